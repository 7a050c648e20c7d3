// relative_bias_2d: a learned score bias per offset in rows and columns, and head.
#include <algorithm>
#include <cmath>

#include "core/base/stop.h"
#include "core/position/list.h"
#include "core/position/offsets.h"
#include "core/position/slopes.h"

namespace attnscope {
namespace {

constexpr double kMaxClip = 255;  // (2k + 1)² numbers per head

// Slopes that differ by head, as in ALiBi, over the distance in the image.
Tensor sloped_biases(const Shape& shape, const Situation&, const Values& values) {
  const Index clip = values.integer("clip"), side = 2 * clip + 1;
  const std::vector<double> slopes = default_slopes(shape[0]);
  Tensor bias(shape);  // [h, side * side]
  for (Index head = 0; head < shape[0]; ++head) {
    check_stop();
    for (Index n = 0; n < side * side; ++n) {
      const auto rows = static_cast<double>(n / side - clip);
      const auto columns = static_cast<double>(n % side - clip);
      bias(head, n) =
          static_cast<float>(-slopes[static_cast<std::size_t>(head)] * std::hypot(rows, columns));
    }
  }
  return bias;
}

void apply_bias_2d(Part& part, const EncodingContext& context) {
  const Index width = context.values.integer("width"), clip = context.values.integer("clip");
  use_image_positions(part, width);
  const auto clipped = [clip](Index n) { return std::clamp(n, -clip, clip) + clip; };
  const OffsetIndexPtr index = index_offsets(offset_range(part), [=](Index offset) {
    const ImageOffset o = image_offset(offset, width);
    return clipped(-o.rows) * (2 * clip + 1) + clipped(-o.columns);
  });
  part.bias = OffsetTable{weight(context.weights, "pos.bias"), index, Term::Bias};
}

}  // namespace

Encoding relative_bias_2d_encoding() {
  Encoding e;
  e.id = "relative_bias_2d";
  e.label = "Relative bias, 2-D";
  e.group = "Bias by distance";
  e.equation =
      "sᵢⱼ = qᵢ·kⱼ / √d_k + b_a[Δrow, Δcol],   Δ = clamp(position of j − position of i, −k, k)";
  e.summary =
      "The sequence is an image read row by row. Each head has a learned number for every offset "
      "in rows and columns up to k, added to the score regardless of the content: in the sequence "
      "the pixel above is a whole row away, here it is as near as the pixel to the left. In Swin "
      "Transformer, k is the window's side minus 1.";
  e.source = "Liu et al., 2021, Swin Transformer, arXiv:2103.14030";
  e.complexity = "O(1) per pair, and h·(2k + 1)² weights";
  e.absolute = true;  // the row of a position is not determined by i − j
  e.parameters = {
      {.key = "width",
       .symbol = "W",
       .label = "Image width",
       .help = "Pixels in a row of the image.",
       .required = true,
       .scope = {.image = "width"},
       .initial = Index{8},
       .illustrative_default = [](Index length) -> Value { return rounded_root(length); },
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 32}},
      clip_parameter("number, in rows and in columns")};
  e.parameters.back().initial = Index{6};
  e.parameters.back().limits.max = kMaxClip;
  e.parameters.back().slider.max = 32;
  e.weights = {{.name = "pos.bias",
                .help = "Score bias by head and offset, row by row.",
                .shape = [](const Dimensions& n, const Values& values) -> Shape {
                  const Index side = 2 * values.integer("clip") + 1;
                  return {n.heads, side * side};
                },
                .initial = initial_zeros(),
                .illustrative = sloped_biases}};
  e.apply = apply_bias_2d;
  e.sequence_position = [](const Values& values, const PartRules&, Index code) {
    return image_position(code, values.integer("width"));
  };
  return e;
}

}  // namespace attnscope
