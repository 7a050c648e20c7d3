#include "core/view/range.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"

namespace attnscope {

void set_cells(HeatMap& cells, const AttentionTap& tap, Index head) {
  if (tap.result.device) {
    cells.device = tap.result.device;
    cells.plane = head;
  } else {
    cells.values = tap.attention(head);
  }
}

bool is_signed(const AttentionTap& tap, Index head) {
  const bool normalised =
      tap.result.part && (tap.result.part->normaliser == Normaliser::Softmax ||
                          tap.result.part->normaliser == Normaliser::SpanSoftmax);
  if (normalised) return false;
  const Tensor values = tap.attention(head);
  return std::any_of(values.begin(), values.end(), [](float v) { return v < 0; });
}

double largest_visible(const HeatMap& cells) {
  const Tensor values = heat_map_cells(cells);
  const auto clamped = [](double v, Index count) {
    return static_cast<Index>(std::clamp(v, 0.0, static_cast<double>(count)));
  };
  const Index first = clamped(std::floor(cells.column), values.dim(1));
  const Index last = clamped(std::ceil(cells.column + cells.width), values.dim(1));
  float largest = 0;
  for (Index r = clamped(std::floor(cells.row), values.dim(0));
       r < clamped(std::ceil(cells.row + cells.height), values.dim(0)); ++r) {
    const float* row = values.data() + r * values.dim(1);
    for (Index c = first; c < last; ++c) largest = std::max(largest, std::abs(row[c]));
  }
  return std::isfinite(largest) ? largest : 1;
}

ColourRange colour_range(const ViewInput& input, const HeatMap& cells, bool with_signs) {
  ColourRange range;
  range.colour_map = input.experiment.view.colour_map;
  const bool dark = input.theme.background.r < 128;
  if (with_signs && !colour_map(range.colour_map).diverging()) {
    range.colour_map = dark ? "berlin" : "vik";
  }
  if (with_signs || input.experiment.view.normalise) {
    const double largest = largest_visible(cells);
    range.most = largest > 0 ? largest : 1;
  }
  range.least = colour_map(range.colour_map).diverging() ? -range.most : 0;
  return range;
}

}  // namespace attnscope
