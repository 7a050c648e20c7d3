// image: predicts pixels in raster order, each from the preceding pixels. Parmar et al., 2018;
// Child et al., 2019.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

// Batch of the start id and all pixels but the last; each position predicts the next pixel.
Batch pixel_batch(const std::vector<std::int32_t>& ids, const ModelConfig& config) {
  const Values& image = config.input.values;
  const auto levels = static_cast<std::int32_t>(image.integer("levels"));
  const Index count = image.integer("width") * image.integer("height");
  const auto length = static_cast<Index>(ids.size());
  if (length > count) {
    throw InputError("ids: expected at most the " + std::to_string(count) +
                     " pixels of the image, found " + std::to_string(length));
  }
  for (const std::int32_t id : ids) {
    if (id >= 0 && id < levels) continue;
    throw InputError("pixels: expected levels from 0 to " + std::to_string(levels - 1) +
                     ", found " + std::to_string(id));
  }
  Batch batch;
  batch.targets = IntTensor::from({1, length}, ids);
  std::vector<std::int32_t> input_ids{levels};
  input_ids.insert(input_ids.end(), ids.begin(), ids.end() - (ids.empty() ? 0 : 1));
  batch.ids = IntTensor::from({1, length}, input_ids);
  return batch;
}

// Adds the vectors for row and column of the pixel to predict.
Var add_pixel_positions(Pass& pass, const Var& x, Index first) {
  const Index width = pass.config().input.values.integer("width");
  const Index length = x.dim(0) / pass.batch();
  IntTensor rows({x.dim(0)}), columns({x.dim(0)});
  for (Index n = 0; n < x.dim(0); ++n) {
    const Index pixel = first + n % length;
    rows[n] = static_cast<std::int32_t>(pixel / width);
    columns[n] = static_cast<std::int32_t>(pixel % width);
  }
  return add(add(x, gather(pass.weight("embed.row"), rows)),
             gather(pass.weight("embed.column"), columns));
}

WeightInfo position_table(const char* name, const char* help, const char* size) {
  return {.name = name,
          .help = help,
          .shape = [size](const Dimensions& n, const Values& values) -> Shape {
            return {values.integer(size), n.model};
          },
          .initial = initial_normal(0.02)};
}

Parameter size_parameter(const char* key, const char* label, const char* help, Index initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .limits = {.min = 1, .max = 4096},
          .slider = {.min = 2, .max = 64}};
}

}  // namespace

InputKind image_input() {
  InputKind kind;
  kind.id = "image";
  kind.label = "Image";
  kind.group = "Inputs";
  kind.equation = "x₀ = E[previous pixel] + R[row] + C[column]";
  kind.summary =
      "The pixels of an image, row by row. Each is predicted from the preceding ones; the position "
      "of the next pixel is added to the vector of the previous one.";
  kind.source = "Parmar et al., 2018, Image transformer, arXiv:1802.05751";
  kind.parameters = {size_parameter("width", "Width", "Pixels per row.", 8),
                     size_parameter("height", "Height", "Rows.", 8),
                     size_parameter("levels", "Levels", "Number of grey levels.", 16)};
  kind.weights = {position_table("embed.row", "Vector of each row.", "height"),
                  position_table("embed.column", "Vector of each column.", "width")};
  kind.refusal = [](const ModelConfig& config) -> std::string {
    if (config.architecture != default_architecture() || !config.causal) {
      return "input: expected a causal decoder for \"image\", which is predicted pixel by pixel";
    }
    const Index levels = config.input.values.integer("levels");
    if (config.vocabulary != levels + 1) {
      return "vocabulary: expected " + std::to_string(levels + 1) + " (levels and start), found " +
             std::to_string(config.vocabulary);
    }
    return "";
  };
  kind.batch = pixel_batch;
  kind.generation_prefix = [](const std::vector<std::int32_t>& ids, const ModelConfig& config) {
    std::vector<std::int32_t> input_ids{
        static_cast<std::int32_t>(config.input.values.integer("levels"))};
    input_ids.insert(input_ids.end(), ids.begin(), ids.end());
    return input_ids;
  };
  kind.max_ids = [](const Values& image) {
    return image.integer("width") * image.integer("height");
  };
  kind.levels = [](const Values& image) { return image.integer("levels"); };
  kind.columns = [](const Values& image) { return image.integer("width"); };
  kind.embed = add_pixel_positions;
  kind.pattern_size = [](const Values& image, std::string_view parameter) -> Index {
    if (parameter == "height") return image.integer("height");
    const bool is_width = parameter == "width" || parameter == "stride" || parameter == "block";
    return is_width ? image.integer("width") : -1;
  };
  return kind;
}

}  // namespace attnscope
