#include "core/view/parts/range.h"

#include <algorithm>
#include <cmath>

#include "core/attention/map_pyramid.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"

namespace attnscope {

Extent visible_extent(double first, double size, Index count) {
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
  const Extent rows = visible_extent(cells.row, cells.height, place.rows);
  const Extent columns = visible_extent(cells.column, cells.width, place.columns);
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
  if (tap.stores_map() || !tap.result.tiles) {
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
  return tap.settings() != nullptr && (tap.settings()->normaliser == Normaliser::Softmax ||
                                       tap.settings()->normaliser == Normaliser::SpanSoftmax);
}

bool is_signed(const AttentionTap& tap, Index head) {
  if (is_normalised(tap)) return false;
  const auto negative = [](const Tensor& values) {
    return std::any_of(values.begin(), values.end(), [](float v) { return v < 0; });
  };
  if (tap.stores_map() || !tap.result.tiles) return negative(tap.attention(head));
  // Without a stored map: true if the mechanism can produce negative weights.
  const std::shared_ptr<const Part> part = tap.part();
  return part->normaliser == Normaliser::None || negative(part->q.value()) ||
         negative(part->k.value());
}

std::vector<float> visible_row_maxima(const HeatMap& cells, Index limit) {
  const Tensor values = heat_map_cells(cells);
  const Extent columns = visible_extent(cells.column, cells.width, values.dim(1));
  const Extent rows = visible_extent(cells.row, cells.height, values.dim(0));
  const Index step = 1 + rows.count() * columns.count() / limit;
  std::vector<float> maxima;
  for (Index r = rows.first; r < rows.last; r += step) {
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
                 const ShownCells& shown, std::vector<float>& magnitudes) {
  for (const Run& run : row) {
    const Index first = std::max<Index>(run.begin, columns.first + shown.column);
    const Index skipped = (first - run.begin + run.step - 1) / run.step;
    const Index last = std::min<Index>(run.end, columns.last + shown.column);
    for (Index c = run.begin + skipped * run.step; c < last; c += run.step) {
      const float magnitude = std::abs(values(r, c - shown.column));
      if (std::isfinite(magnitude)) magnitudes.push_back(magnitude);
    }
  }
}

// Appends the nonzero magnitudes of a row whose cells are blocks of pairs.
void add_blocks(const Tensor& values, Index r, const Extent& columns, std::vector<float>& sizes) {
  for (Index c = columns.first; c < columns.last; ++c) {
    const float magnitude = std::abs(values(r, c));
    if (magnitude > 0 && std::isfinite(magnitude)) sizes.push_back(magnitude);
  }
}

// Visible rows of the map; only a few are fetched from a device.
struct RowSample {
  Tensor values;  // row n: row first + n * step of the cells
  Index first = 0, step = 1, count = 0;
};

RowSample sample_visible_rows(const HeatMap& cells, Index limit) {
  constexpr Index kMaxDeviceRows = 64;
  const Shape shape = cells.device ? cells.device->shape() : cells.values.shape();
  const Extent rows = visible_extent(cells.row, cells.height, shape[shape.size() - 2]);
  const Extent columns = visible_extent(cells.column, cells.width, shape.back());
  RowSample sample{{}, rows.first, 1 + rows.count() * columns.count() / limit, 0};
  if (cells.device) sample.step = std::max(sample.step, 1 + rows.count() / kMaxDeviceRows);
  sample.count = (rows.count() + sample.step - 1) / sample.step;
  if (sample.count == 0) return sample;
  if (cells.device) {
    sample.values = cells.device->rows(cells.plane, sample.first, sample.step, sample.count);
  } else if (sample.first == 0 && sample.step == 1) {
    sample.values = cells.values;
  } else {
    sample.values = rows_of(cells.values.reshaped({1, cells.values.dim(0), cells.values.dim(1)}), 0,
                            sample.first, sample.step, sample.count);
  }
  return sample;
}

std::vector<float> magnitudes_of_rows(const RowSample& sample, const Extent& columns,
                                      const AttentionTap& tap, Index head, const ShownCells& shown,
                                      bool include_single) {
  const Pattern& pattern = *tap.result.pattern;
  const Index rule_head = pattern.heads() > 1 ? head : 0;
  std::vector<float> magnitudes;
  for (Index n = 0; n < sample.count; ++n) {
    const Index cell = sample.first + n * sample.step;
    const Index query = std::min(shown.row + cell * shown.step, pattern.queries() - 1);
    if (!include_single && pattern.row_size(rule_head, query) <= 1) continue;
    if (shown.step == 1) {
      add_allowed(sample.values, n, columns, pattern.row(rule_head, query), shown, magnitudes);
    } else {
      add_blocks(sample.values, n, columns, magnitudes);
    }
  }
  return magnitudes;
}

}  // namespace

std::vector<float> visible_magnitudes(const HeatMap& cells, const AttentionTap& tap, Index head,
                                      const ShownCells& shown, Index limit) {
  const RowSample sample = sample_visible_rows(cells, limit);
  if (sample.count == 0) return {};
  const Extent columns = visible_extent(cells.column, cells.width, sample.values.dim(1));
  std::vector<float> sizes = magnitudes_of_rows(sample, columns, tap, head, shown, false);
  return sizes.empty() ? magnitudes_of_rows(sample, columns, tap, head, shown, true) : sizes;
}

double largest_single_weight(const HeatMap& cells, const AttentionTap& tap, Index head,
                             const ShownCells& shown) {
  constexpr Index kMaxInspected = 256, kMaxRead = 8;  // rows; reading rows on a device is slow
  const Pattern& pattern = *tap.result.pattern;
  const Index rule_head = pattern.heads() > 1 ? head : 0;
  const Shape shape = cells.device ? cells.device->shape() : cells.values.shape();
  const Extent rows = visible_extent(cells.row, cells.height, shape[shape.size() - 2]);
  const Extent columns = visible_extent(cells.column, cells.width, shape.back());
  const Index last = std::min(rows.last, rows.first + kMaxInspected);
  Index read = 0;
  float largest = 0;
  for (Index r = rows.first; r < last && read < kMaxRead; ++r) {
    const Index query = std::min(shown.row + r * shown.step, pattern.queries() - 1);
    if (pattern.row_size(rule_head, query) != 1) continue;
    ++read;
    const Tensor row =
        cells.device ? cells.device->rows(cells.plane, r, 1, 1) : cells.values.slice(r, 1);
    for (Index c = columns.first; c < columns.last; ++c) {
      if (std::isfinite(row(0, c))) largest = std::max(largest, std::abs(row(0, c)));
    }
  }
  return static_cast<double>(largest);
}

namespace {

// Ends of the colours above this fraction of the largest weight are replaced by that weight.
constexpr double kNearlyLargest = 0.8;

}  // namespace

void set_range_end(ColourRange& range, std::vector<float> values, ColourEnd end, bool with_signs) {
  constexpr double kPercentile = 0.99;  // rank among the magnitudes
  if (values.empty() || (end == ColourEnd::One && !with_signs)) return;
  const auto largest = static_cast<double>(*std::ranges::max_element(values));
  if (!(largest > 0)) return;
  range.most = largest;
  if (end == ColourEnd::Percentile) {
    const double count = std::ceil(kPercentile * static_cast<double>(values.size()));
    const auto rank = static_cast<std::ptrdiff_t>(count) - 1;
    std::ranges::nth_element(values, values.begin() + rank);
    const auto percentile = static_cast<double>(values[static_cast<std::size_t>(rank)]);
    if (percentile > 0 && percentile < kNearlyLargest * largest) {
      range.most = percentile;
      range.passed = true;
    }
  }
  if (range.least < 0) range.least = -range.most;
}

void include_single_weight(ColourRange& range, double weight) {
  constexpr double kTolerance = 1e-4;  // relative
  if (!(weight > (1 + kTolerance) * range.most)) return;
  if (range.passed || range.most < kNearlyLargest * weight) {
    range.passed = true;
    return;
  }
  range.most = weight;
  if (range.least < 0) range.least = -weight;
}

ColourRange colour_range(const ViewInput& input, const HeatMap& cells, const AttentionTap& tap,
                         Index head, bool with_signs, const ShownCells& shown) {
  ColourRange range = weight_colours(input, with_signs);
  const ColourEnd end = input.session.view.colour_end;
  if (end == ColourEnd::One && !with_signs) return range;
  set_range_end(range, visible_magnitudes(cells, tap, head, shown), end, with_signs);
  include_single_weight(range, largest_single_weight(cells, tap, head, shown));
  return range;
}

}  // namespace attnscope
