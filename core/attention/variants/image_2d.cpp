// image_2d: rectangular blocks of pixels with margins. Parmar et al., 2018.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/picture.h"
#include "core/attention/variants/shared/rows.h"

namespace attnscope {
namespace {

Parameter block_side_parameter(const char* key, const char* symbol, const char* label,
                               const char* help, Index initial, Index (*side)(Index pixels)) {
  return {.key = key,
          .symbol = symbol,
          .label = label,
          .help = help,
          .required = true,
          .initial = initial,
          .illustrative_default = [side](Index length) -> Value {
            const Index pixels = side(length);  // a third of them, but several
            return std::min(pixels, std::max<Index>(2, fraction_of_length(pixels, 3)));
          },
          .limits = {.min = 1},
          .slider = {.min = 1, .max = 32}};
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
                     values.set("width", picture_width(length));
                     values.set("height", picture_height(length));
                     values.set("block_h", Index{8});
                     values.set("block_w", Index{8});
                     values.set("top", Index{4});
                     values.set("left", Index{4});
                     values.set("right", Index{4});
                   }};
  v.parameters = {
      picture_width_parameter(),
      picture_height_parameter(),
      block_side_parameter("block_h", "b_h", "Block height", "Rows of a query block.", 2,
                           picture_height),
      block_side_parameter("block_w", "b_w", "Block width", "Columns of a query block.", 4,
                           picture_width),
      margin_parameter("top", "t", "Margin above", "Rows seen above the block."),
      margin_parameter("left", "l", "Margin left", "Columns seen to the left of the block."),
      margin_parameter("right", "r", "Margin right", "Columns seen to the right of the block.")};
  v.defaults.length = whole_picture;
  v.objection = picture_objection;
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
