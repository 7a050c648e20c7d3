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

// Visible region of a map, and its resolution.
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
  place.level = map_level(cells.height, cells.width, cells.box.height * input.canvas.scale,
                          cells.box.width * input.canvas.scale);
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
  if (tap.is_kept() || !tap.result.tiles) {
    cells.values = shown.values = tap.attention(head);
    return shown;
  }
  const MapPlace place = visible_place(cells, input, tap, head);
  const std::shared_ptr<MapPyramid> maps = input.findings.get(Findings::maps);
  const MapCells part = maps != nullptr ? maps->look(place) : exact_cells(place);
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
  return "map " + std::to_string(static_cast<int>(100 * exact)) + "% exact, the rest is a preview";
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
  if (tap.is_kept() || !tap.result.tiles) return negative(tap.attention(head));
  // Without a stored map: true if the mechanism can produce negative weights.
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

double largest_visible_magnitude(const HeatMap& cells) {
  const std::vector<float> maxima = visible_row_maxima(cells);
  if (maxima.empty()) return 0;
  return std::isfinite(maxima.back()) ? maxima.back() : 1;
}

ColourRange weight_colours(const ViewInput& input, bool with_signs) {
  ColourRange range;
  range.colour_map = input.session.view.colour_map;
  if (with_signs && !colour_map(range.colour_map).diverging()) {
    range.colour_map = diverging_colours(input.canvas.theme);
  }
  range.least = colour_map(range.colour_map).diverging() ? -range.most : 0;
  return range;
}

namespace {

// Appends the magnitudes of a row's visible allowed weights.
void add_allowed(const Tensor& values, Index r, const Extent& columns, const Pattern::Row& row,
                 const ShownCells& seen, std::vector<float>& sizes) {
  for (const Run& run : row) {
    const Index first = std::max<Index>(run.begin, columns.first + seen.column);
    const Index skipped = (first - run.begin + run.step - 1) / run.step;
    const Index last = std::min<Index>(run.end, columns.last + seen.column);
    for (Index c = run.begin + skipped * run.step; c < last; c += run.step) {
      const float size = std::abs(values(r, c - seen.column));
      if (std::isfinite(size)) sizes.push_back(size);
    }
  }
}

// The same for cells that are blocks of pairs: includes nonzero weights only.
void add_blocks(const Tensor& values, Index r, const Extent& columns, std::vector<float>& sizes) {
  for (Index c = columns.first; c < columns.last; ++c) {
    const float size = std::abs(values(r, c));
    if (size > 0 && std::isfinite(size)) sizes.push_back(size);
  }
}

// Visible rows of the map; only a few are fetched from a device.
struct RowSample {
  Tensor values;  // row n: row first + n * every of the cells
  Index first = 0, every = 1, count = 0;
};

RowSample rows_in_sight(const HeatMap& cells, Index most) {
  constexpr Index kMaxOfDevice = 64;
  const Shape shape = cells.device ? cells.device->shape() : cells.values.shape();
  const Extent rows = extent_in_sight(cells.row, cells.height, shape[shape.size() - 2]);
  const Extent columns = extent_in_sight(cells.column, cells.width, shape.back());
  RowSample sample{{}, rows.first, 1 + rows.count() * columns.count() / most, 0};
  if (cells.device) sample.every = std::max(sample.every, 1 + rows.count() / kMaxOfDevice);
  sample.count = (rows.count() + sample.every - 1) / sample.every;
  if (sample.count == 0) return sample;
  if (cells.device) {
    sample.values = cells.device->rows(cells.plane, sample.first, sample.every, sample.count);
  } else if (sample.first == 0 && sample.every == 1) {
    sample.values = cells.values;
  } else {
    sample.values = rows_of(cells.values.reshaped({1, cells.values.dim(0), cells.values.dim(1)}), 0,
                            sample.first, sample.every, sample.count);
  }
  return sample;
}

std::vector<float> sizes_of_rows(const RowSample& sample, const Extent& columns,
                                 const AttentionTap& tap, Index head, const ShownCells& seen,
                                 bool include_single) {
  const Pattern& pattern = *tap.result.pattern;
  const Index rule_head = pattern.heads() > 1 ? head : 0;
  std::vector<float> sizes;
  for (Index n = 0; n < sample.count; ++n) {
    const Index cell = sample.first + n * sample.every;
    const Index query = std::min(seen.row + cell * seen.step, pattern.queries() - 1);
    if (!include_single && pattern.row_size(rule_head, query) <= 1) continue;
    if (seen.step == 1) {
      add_allowed(sample.values, n, columns, pattern.row(rule_head, query), seen, sizes);
    } else {
      add_blocks(sample.values, n, columns, sizes);
    }
  }
  return sizes;
}

}  // namespace

std::vector<float> visible_magnitudes(const HeatMap& cells, const AttentionTap& tap, Index head,
                                      const ShownCells& seen, Index most) {
  const RowSample sample = rows_in_sight(cells, most);
  if (sample.count == 0) return {};
  const Extent columns = extent_in_sight(cells.column, cells.width, sample.values.dim(1));
  std::vector<float> sizes = sizes_of_rows(sample, columns, tap, head, seen, false);
  return sizes.empty() ? sizes_of_rows(sample, columns, tap, head, seen, true) : sizes;
}

void set_range_end(ColourRange& range, std::vector<float> sizes, ColourEnd end, bool with_signs) {
  constexpr double kShare = 0.99;         // percentile of the magnitudes
  constexpr double kNearlyLargest = 0.8;  // of the largest; above this share the largest is used
  if (sizes.empty() || (end == ColourEnd::One && !with_signs)) return;
  const auto largest = static_cast<double>(*std::ranges::max_element(sizes));
  if (!(largest > 0)) return;
  range.most = largest;
  if (end == ColourEnd::Percentile) {
    const double below = std::ceil(kShare * static_cast<double>(sizes.size()));
    const auto rank = static_cast<std::ptrdiff_t>(below) - 1;
    std::ranges::nth_element(sizes, sizes.begin() + rank);
    const auto high = static_cast<double>(sizes[static_cast<std::size_t>(rank)]);
    if (high > 0 && high < kNearlyLargest * largest) {
      range.most = high;
      range.passed = true;
    }
  }
  if (range.least < 0) range.least = -range.most;
}

ColourRange colour_range(const ViewInput& input, const HeatMap& cells, const AttentionTap& tap,
                         Index head, bool with_signs, const ShownCells& seen) {
  ColourRange range = weight_colours(input, with_signs);
  const ColourEnd end = input.session.view.colour_end;
  if (end == ColourEnd::One && !with_signs) return range;
  set_range_end(range, visible_magnitudes(cells, tap, head, seen), end, with_signs);
  return range;
}

}  // namespace attnscope
