// patches: a whole image, split into square patches. Dosovitskiy et al., 2020.
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/model/input_kind.h"
#include "core/model/pass.h"

namespace attnscope {
namespace {

constexpr Index kColours = 3;

Index patches_per_row(const Values& image) {
  return image.integer("width") / image.integer("patch");
}

Index patch_count(const Values& image) {
  return patches_per_row(image) * (image.integer("height") / image.integer("patch"));
}

// Ids below `extra` are tokens without a patch; `extra` itself represents any patch.
std::vector<std::int32_t> extra_and_patch_ids(const Values& image) {
  const Index extra = image.integer("extra");
  std::vector<std::int32_t> ids(static_cast<std::size_t>(extra + patch_count(image)),
                                static_cast<std::int32_t>(extra));
  for (Index n = 0; n < extra; ++n) ids[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(n);
  return ids;
}

// Pixels of each patch, by colour, row and column.  [1, n, 3 patch patch]
Tensor extract_patches(const Tensor& colours, const Values& image) {
  const Index width = image.integer("width"), height = image.integer("height"),
              side = image.integer("patch"), per_row = patches_per_row(image);
  if (colours.shape() != Shape{height, width, kColours}) {
    throw InputError("input: expected an image " + to_string(Shape{height, width, kColours}) +
                     ", found " + to_string(colours.shape()));
  }
  const auto& mean = image.get<std::vector<double>>("mean");
  const auto& deviation = image.get<std::vector<double>>("deviation");
  Tensor patches({1, patch_count(image), kColours * side * side});
  float* out = patches.data();
  for (Index patch = 0; patch < patches.dim(1); ++patch) {
    const Index top = patch / per_row * side, left = patch % per_row * side;
    for (Index c = 0; c < kColours; ++c) {
      const auto n = static_cast<std::size_t>(c);
      for (Index pixel = 0; pixel < side * side; ++pixel) {
        const Index row = top + pixel / side, column = left + pixel % side;
        const auto level = static_cast<double>(colours[(row * width + column) * kColours + c]);
        *out++ = static_cast<float>((level - mean[n]) / deviation[n]);
      }
    }
  }
  return patches;
}

// Adds the projected pixels of each patch; tokens without a patch are unchanged.
Var add_patches(Pass& pass, const Var& x, Index first) {
  const Tensor& patches = pass.patches();
  const Index extra = pass.config().input.values.integer("extra");
  const Index length = x.dim(0) / pass.batch();
  if (!patches.defined() || first != 0 || patches.dim(1) + extra != length) {
    throw InputError("input: expected an image, found none");
  }
  const Var vectors = matmul(Var(patches.reshaped({pass.batch() * patches.dim(1), patches.dim(2)})),
                             pass.weight("embed.patch"));  // [B n, d]
  const Index width = x.dim(1);
  const Var rows = concat({Var(Tensor::zeros({pass.batch(), extra, width})),
                           reshape(vectors, {pass.batch(), patches.dim(1), width})},
                          1);  // [B, L, d]
  return add(x, reshape(rows, x.shape()));
}

Parameter pixels_parameter(const char* key, const char* label, const char* help, Index initial,
                           Index minimum) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .limits = {.min = static_cast<double>(minimum), .max = 4096},
          .slider = {.min = static_cast<double>(minimum), .max = 512}};
}

Parameter colours_parameter(const char* key, const char* label, const char* help, double initial) {
  return {.key = key,
          .symbol = "",
          .label = label,
          .help = help,
          .kind = Parameter::Kind::Reals,
          .initial = std::vector<double>(kColours, initial),
          .limits = {.min = -1e6, .max = 1e6}};
}

std::string patches_refusal(const ModelConfig& config) {
  const Values& image = config.input.values;
  const Index side = image.integer("patch");
  if (image.integer("width") % side != 0 || image.integer("height") % side != 0) {
    return "input.patch: expected a divisor of width and height, found " + std::to_string(side);
  }
  for (const char* key : {"mean", "deviation"}) {
    const auto& numbers = image.get<std::vector<double>>(key);
    const bool is_divisor = std::string_view(key) == "deviation";
    bool is_invalid = false;
    for (const double number : numbers) is_invalid = is_invalid || (is_divisor && !(number > 0));
    if (numbers.size() == kColours && !is_invalid) continue;
    return std::string("input.") + key + ": expected a number " + (is_divisor ? "above 0 " : "") +
           "for each of the " + std::to_string(kColours) + " colours, found " +
           to_text(Value(numbers));
  }
  if (config.architecture != default_architecture() || config.causal || config.segment > 0) {
    return "input: expected architecture decoder, causal false, and no segments (image patches are "
           "processed all at once)";
  }
  if (config.model_options.output_head) {
    return "input: expected output_head false, found true (image patches are not predicted)";
  }
  const Index extra = image.integer("extra");
  if (config.vocabulary != extra + 1) {
    return "vocabulary: expected " + std::to_string(extra + 1) +
           ", the extra tokens and one for all patches, found " + std::to_string(config.vocabulary);
  }
  if (config.context != extra + patch_count(image)) {
    return "context: expected " + std::to_string(extra + patch_count(image)) +
           ", the extra tokens and the patches, found " + std::to_string(config.context);
  }
  return "";
}

}  // namespace

InputKind patches_input() {
  InputKind kind;
  kind.id = "patches";
  kind.label = "Image patches";
  kind.group = "Inputs";
  kind.equation = "x₀ = E[extra], P·pixels[patch] + b, …";
  kind.summary =
      "An image is cut into square patches, and the colours of each, projected by one matrix, are "
      "a token. All are processed at once. Extra tokens, such as one whose state is used to "
      "classify the image, precede them.";
  kind.source = "Dosovitskiy et al., 2020, An image is worth 16x16 words, arXiv:2010.11929";
  kind.uses_patches = true;
  kind.parameters = {
      pixels_parameter("width", "Width", "Pixels of a row.", 224, 1),
      pixels_parameter("height", "Height", "Rows of pixels.", 224, 1),
      pixels_parameter("patch", "Patch size", "Side of a patch in pixels.", 16, 1),
      pixels_parameter("extra", "Extra tokens", "Tokens before the patches, such as [class].", 1,
                       0),
      colours_parameter("mean", "Mean", "Subtracted from each colour (range 0 to 1).", 0),
      colours_parameter("deviation", "Deviation", "Divisor of each colour.", 1)};
  kind.weights = {{.name = "embed.patch",
                   .help = "Projection of the pixels of a patch, by colour, row and column.",
                   .shape = [](const Dimensions& n, const Values& values) -> Shape {
                     const Index side = values.integer("patch");
                     return {kColours * side * side, n.model};
                   },
                   .initial = initial_normal(0.02)}};
  kind.refusal = patches_refusal;
  kind.batch = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    Batch batch;
    batch.ids = IntTensor::from({1, static_cast<Index>(ids.size())}, ids);
    return batch;
  };
  kind.generation_prefix = [](const std::vector<std::int32_t>& ids, const ModelConfig&) {
    return ids;
  };
  kind.max_ids = patch_count;
  kind.levels = [](const Values&) { return Index{0}; };
  kind.columns = patches_per_row;
  kind.embed = add_patches;
  kind.patch_pixels = extract_patches;
  kind.patch_ids = extra_and_patch_ids;
  return kind;
}

}  // namespace attnscope
