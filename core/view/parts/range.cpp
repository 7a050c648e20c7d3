#include "core/view/parts/range.h"

#include <algorithm>
#include <cmath>

#include "core/attention/map_pyramid.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"

namespace attnscope {

Extent extent_in_sight(double first, double size, Index count) {
  const auto clamped = [count](double x) {
    return static_cast<Index>(std::clamp(x, 0.0, static_cast<double>(count)));
  };
  return {clamped(std::floor(first)), clamped(std::ceil(first + size))};
}

namespace {

// What is in sight of a map, and how finely.
MapPlace visible_place(const HeatMap& cells, const ViewInput& input, const AttentionTap& tap,
                       Index head) {
  MapPlace place{
      .tiles = tap.result.tiles, .head = head, .rows = tap.queries(), .columns = tap.keys()};
  const Extent rows = extent_in_sight(cells.row, cells.height, place.rows);
  const Extent columns = extent_in_sight(cells.column, cells.width, place.columns);
  place.row = rows.first;
  place.height = rows.count();
  place.column = columns.first;
  place.width = columns.count();
  place.level = map_level(cells.height, cells.width, cells.box.height * input.scale,
                          cells.box.width * input.scale);
  return place;
}

}  // namespace

ShownCells set_cells(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head) {
  ShownCells shown;
  if (tap.result.device) {
    cells.device = tap.result.device;
    cells.plane = head;
    return shown;
  }
  if (tap.kept() || !tap.result.tiles) {
    cells.values = shown.values = tap.attention(head);
    return shown;
  }
  const MapPlace place = visible_place(cells, input, tap, head);
  const std::shared_ptr<MapPyramid> maps = input.findings.get(Findings::maps);
  const MapCells part = maps != nullptr ? maps->look(place) : exact_cells(place, input.stop);
  shown = {part.cells, part.row, part.column, part.step, part.exact};
  cells.values = part.cells;
  const auto step = static_cast<double>(part.step);
  cells.row = (cells.row - static_cast<double>(part.row)) / step;
  cells.column = (cells.column - static_cast<double>(part.column)) / step;
  cells.height /= step;
  cells.width /= step;
  return shown;
}

std::string pending_text(double exact) {
  if (exact >= 1) return "";
  return "map " + std::to_string(static_cast<int>(100 * exact)) + " % exact, the rest is a preview";
}

bool is_normalised(const AttentionTap& tap) {
  return tap.result.part && (tap.result.part->normaliser == Normaliser::Softmax ||
                             tap.result.part->normaliser == Normaliser::SpanSoftmax);
}

bool is_signed(const AttentionTap& tap, Index head) {
  if (is_normalised(tap)) return false;
  const auto negative = [](const Tensor& values) {
    return std::any_of(values.begin(), values.end(), [](float v) { return v < 0; });
  };
  if (tap.kept() || !tap.result.tiles) return negative(tap.attention(head));
  // Of a map that was not kept: what could make weights negative.
  const std::shared_ptr<const Part>& part = tap.result.part;
  return part->normaliser == Normaliser::None || negative(part->q.value()) ||
         negative(part->k.value());
}

std::vector<float> visible_row_maxima(const HeatMap& cells, Index most) {
  const Tensor values = heat_map_cells(cells);
  const Extent columns = extent_in_sight(cells.column, cells.width, values.dim(1));
  const Extent rows = extent_in_sight(cells.row, cells.height, values.dim(0));
  const Index every = 1 + rows.count() * columns.count() / most;
  std::vector<float> maxima;
  for (Index r = rows.first; r < rows.last; r += every) {
    const float* row = values.data() + r * values.dim(1);
    float largest = 0;
    for (Index c = columns.first; c < columns.last; ++c) {
      largest = std::max(largest, std::abs(row[c]));
    }
    maxima.push_back(largest);
  }
  std::ranges::sort(maxima);
  return maxima;
}

double largest_visible(const HeatMap& cells) {
  const std::vector<float> maxima = visible_row_maxima(cells);
  if (maxima.empty()) return 0;
  return std::isfinite(maxima.back()) ? maxima.back() : 1;
}

ColourRange colour_range(const ViewInput& input, const HeatMap& cells, bool with_signs,
                         bool given) {
  ColourRange range;
  range.colour_map = input.experiment.view.colour_map;
  if (with_signs && !colour_map(range.colour_map).diverging()) {
    range.colour_map = diverging_colours(input.theme);
  }
  if (!given && (with_signs || input.experiment.view.normalise)) {
    const double largest = largest_visible(cells);
    range.most = largest > 0 ? largest : 1;
  }
  range.least = colour_map(range.colour_map).diverging() ? -range.most : 0;
  return range;
}

}  // namespace attnscope
