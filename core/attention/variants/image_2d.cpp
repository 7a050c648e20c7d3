// image_2d: rectangular blocks of pixels with margins. Parmar et al., 2018.
#include <algorithm>
#include <cmath>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {
namespace {

Parameter size_parameter(const char* key, const char* symbol, const char* label, const char* help,
                         Index initial) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 32}};
}

// Width of an image of `pixels` pixels with width >= height, as nearly square as possible.
Index width_of(Index pixels) {
  Index height = std::max<Index>(1, static_cast<Index>(std::sqrt(static_cast<double>(pixels))));
  while (pixels % height != 0) --height;
  return pixels / height;
}
Index height_of(Index pixels) {
  return pixels / width_of(pixels);
}

// Side of a query block in an image with a side of `pixels`: a third, but several pixels.
Index block_side(Index pixels) {
  return std::min(pixels, std::max<Index>(2, fraction_of_length(pixels, 3)));
}

Parameter margin_parameter(const char* key, const char* symbol, const char* label,
                           const char* help) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .required = true,
          .initial = Index{1},
          .slider = {.max = 16}};
}

}  // namespace

Variant image_2d_variant() {
  Variant v;
  v.id = "image_2d";
  v.label = "Image, 2-D blocks";
  v.group = "Fixed patterns";
  v.equation =
      "j ∈ Sᵢ  ⇔  R − top ≤ rowⱼ < R + block_h  and  C − left ≤ colⱼ < C + block_w + right,\n"
      "(R, C) the corner of the block of pixel i";
  v.summary =
      "The sequence is an image read row by row. Pixels are grouped into rectangular query blocks, "
      "and all pixels of a block see the block and a margin above, to the left and to the right of "
      "it. With causal on, later pixels in reading order are hidden.";
  v.source = "Parmar et al., 2018, Image Transformer, arXiv:1802.05751";
  v.complexity = "O(L·(top + block_h)·(left + block_w + right)·d)";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("width", width_of(length));
                     values.set("height", height_of(length));
                     values.set("block_h", Index{8});
                     values.set("block_w", Index{8});
                     values.set("top", Index{4});
                     values.set("left", Index{4});
                     values.set("right", Index{4});
                   }};
  v.parameters = {
      size_parameter("width", "W", "Image width", "Pixels in a row; width times height is L.", 8),
      size_parameter("height", "H", "Image height", "Rows; width times height is L.", 8),
      size_parameter("block_h", "b_h", "Block height", "Rows of a query block.", 2),
      size_parameter("block_w", "b_w", "Block width", "Columns of a query block.", 4),
      margin_parameter("top", "t", "Margin above", "Rows seen above the block."),
      margin_parameter("left", "l", "Margin left", "Columns seen to the left of the block."),
      margin_parameter("right", "r", "Margin right", "Columns seen to the right of the block.")};
  const auto set_illustrative_default = [&](std::size_t parameter, Index (*size)(Index length)) {
    v.parameters[parameter].illustrative_default = [size](Index length) -> Value {
      return size(length);
    };
  };
  set_illustrative_default(0, width_of);
  set_illustrative_default(1, height_of);
  set_illustrative_default(2, [](Index length) { return block_side(height_of(length)); });
  set_illustrative_default(3, [](Index length) { return block_side(width_of(length)); });
  v.defaults.length = [](Index length) {
    while (width_of(length) > 2 * height_of(length)) --length;
    return length;
  };
  v.parameters[0].scope.image = "width";
  v.parameters[1].scope.image = "height";
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    const Index pixels = values.integer("width") * values.integer("height");
    if (in.keys == 0 || pixels == in.keys) return {};
    return "width: expected width times height to be the length " + std::to_string(in.keys) +
           ", found " + to_text(values.integer("width")) + " times " +
           to_text(values.integer("height"));
  };
  v.pattern = [](const PatternInput& in) {
    const auto value = [&](const char* key) { return in.values.integer(key); };
    const Index width = value("width"), height = value("height");
    const Index block_h = value("block_h"), block_w = value("block_w");
    const Index top = value("top"), left = value("left"), right = value("right");
    return build_rows(
        in, 1, {std::to_string(block_h) + " × " + std::to_string(block_w) + " block and margins"},
        [=](PatternBuilder& rows, Index, Index i) {
          const Index corner_row = i / width / block_h * block_h;
          const Index corner_column = i % width / block_w * block_w;
          const Index first_row = std::max<Index>(0, corner_row - top);
          const Index end_row = std::min(height, corner_row + block_h);
          const Index first_column = std::max<Index>(0, corner_column - left);
          const Index end_column = std::min(width, corner_column + block_w + right);
          for (Index row = first_row; row < end_row; ++row) {
            rows.add(0, row * width + first_column, row * width + end_column);
          }
        });
  };
  return v;
}

}  // namespace attnscope
