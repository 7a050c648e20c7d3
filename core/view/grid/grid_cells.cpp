#include "core/view/grid/grid_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/experiment/head_table.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

bool is_pooled(const HeatMap& cells, double scale) {
  return cells.width > cells.box.width * scale || cells.height > cells.box.height * scale;
}

// A head's map in its thumbnail.
struct Shown {
  HeatMap cells;
  ShownCells seen;
};

Shown shown(const ViewInput& input, const Thumbnail& thumbnail, const Box& box) {
  HeatMap cells;
  cells.box = box;
  cells.height = static_cast<double>(thumbnail.tap->queries());
  cells.width = static_cast<double>(thumbnail.tap->keys());
  cells.colour_map = input.experiment.view.colour_map;
  const ShownCells seen = set_cells(cells, input, *thumbnail.tap, thumbnail.head_in_group);
  return {cells, seen};
}

// The numbers that are to be seen, which scales go by: without the first token where it is hidden.
Tensor seen_numbers(const Thumbnail& thumbnail, const Shown& shown, bool hide_first) {
  Tensor numbers = heat_map_cells(shown.cells);
  if (hide_first) hide_column(numbers, first_token_column(*thumbnail.tap), shown.seen);
  return numbers;
}

// With signs, a scale is the same to both sides of zero.
ColourRange signed_range(const ViewInput& input, const Thumbnail& thumbnail, const Shown& shown,
                         bool hide_first) {
  HeatMap cells = shown.cells;
  cells.values = seen_numbers(thumbnail, shown, hide_first);
  cells.device = nullptr;
  cells.plane = 0;
  return colour_range(input, cells, true);
}

// Replaces the numbers by those that the pixels show, without the first token where it is hidden.
// Pooling comes before a scale: the order of numbers, which it goes by, is the same after it.
void pool(const ViewInput& input, const Thumbnail& thumbnail, bool hide_first, Shown& shown) {
  HeatMap& cells = shown.cells;
  const bool pooled = is_pooled(cells, input.scale);
  const auto pixels = [&](double size) { return static_cast<int>(std::ceil(size * input.scale)); };
  const int width = pixels(cells.box.width), height = pixels(cells.box.height);
  const auto make = [&] {
    HeatMap whole = cells;
    whole.values = seen_numbers(thumbnail, shown, hide_first);
    whole.device = nullptr;
    whole.plane = 0;
    return pooled ? heat_map_pixels(whole, width, height) : whole.values;
  };
  const bool keep = input.cache != nullptr && is_whole(*thumbnail.tap);
  const std::string name = "grid " + std::to_string(thumbnail.layer) + " " +
                           std::to_string(thumbnail.head) + (hide_first ? " hidden " : " ") +
                           std::to_string(width) + " " + std::to_string(height) + " " +
                           cells.colour_map;
  cells.values = keep ? input.cache->matrix(source_of(input.trace), name, make) : make();
  cells.device = nullptr;
  cells.plane = 0;
  if (!pooled) return;
  cells.row = cells.column = 0;
  cells.height = height;
  cells.width = width;
}

// The largest magnitude of a map on a scale of its own. Rows that see a single key have a weight of
// 1 whatever the head does (the first of a causal map has), and say nothing about it.
double own_largest(const Thumbnail& thumbnail, const Shown& shown, bool hide_first) {
  const Pattern& pattern = *thumbnail.tap->result.pattern;
  const Index head = pattern.heads() > 1 ? thumbnail.head_in_group : 0;
  const Tensor values = seen_numbers(thumbnail, shown, hide_first);
  const ShownCells& seen = shown.seen;
  float largest = 0, of_all = 0;
  for (Index r = 0; r < values.dim(0); ++r) {
    const Index query = std::min(seen.row + r * seen.step, pattern.queries() - 1);
    float of_row = 0;  // which what is hidden, NaN, leaves as it is
    for (Index c = 0; c < values.dim(1); ++c) of_row = std::max(of_row, std::abs(values(r, c)));
    of_all = std::max(of_all, of_row);
    if (pattern.row_count(head, query) > 1) largest = std::max(largest, of_row);
  }
  const double found = static_cast<double>(largest > 0 ? largest : of_all);
  return found > 0 && std::isfinite(found) ? found : 1;
}

// Ranks among the numbers of all maps, of each of which every n-th is enough.
std::vector<float> joint_ranks(const std::vector<Shown>& maps) {
  constexpr Index kMost = Index{1} << 20;
  std::vector<float> numbers;
  const Index of_each = std::max<Index>(1, kMost / static_cast<Index>(maps.size()));
  for (const Shown& map : maps) {
    const Tensor& values = map.cells.values;
    const Index every = 1 + values.size() / of_each;
    for (Index i = 0; i < values.size(); i += every) numbers.push_back(values[i]);
  }
  return ranks_of(Tensor::from({static_cast<Index>(numbers.size())}, numbers));
}

void set_most(ColourRange& range, double most) {
  range.most = most;
  range.least = colour_map(range.colour_map).diverging() ? -most : 0;
  range.smallest = kLogSpan * most;
}

}  // namespace

bool is_pooled(const ViewInput& input, const GridRaster& raster,
               const std::vector<Thumbnail>& list) {
  return std::any_of(list.begin(), list.end(), [&](const Thumbnail& t) {
    HeatMap cells;
    cells.box = {0, 0, raster.width, raster.height};
    cells.height = static_cast<double>(t.tap->queries());
    cells.width = static_cast<double>(t.tap->keys());
    return is_pooled(cells, input.scale);
  });
}

GridMaps grid_maps(const ViewInput& input, const GridRaster& raster,
                   const std::vector<Thumbnail>& list) {
  const Values options = view_values(input.experiment.view, "grid");
  const bool own = input.experiment.view.normalise, hide_first = options.flag("hide_first");
  GridMaps grid;
  grid.exact = 0;
  grid.range.colour_map = input.experiment.view.colour_map;
  double most = 1;
  std::vector<Shown> maps;
  for (const Thumbnail& thumbnail : list) {
    maps.push_back(shown(input, thumbnail, raster.box_of(thumbnail.layer, thumbnail.head).value()));
    grid.exact += maps.back().seen.exact;
    if (!is_signed(*thumbnail.tap, thumbnail.head_in_group)) continue;
    // All maps share the colours that one with signs needs.
    const ColourRange range = signed_range(input, thumbnail, maps.back(), hide_first);
    grid.range.colour_map = range.colour_map;
    most = std::max(most, range.most);
  }
  if (!list.empty()) grid.exact /= static_cast<double>(list.size());
  grid.range.scale = scale_of(options);
  set_most(grid.range, most);
  std::vector<double> largest;
  for (std::size_t n = 0; n < list.size(); ++n) {
    maps[n].cells.colour_map = grid.range.colour_map;
    if (own) largest.push_back(own_largest(list[n], maps[n], hide_first));
    const bool as_they_are = grid.range.scale == ColourRange::Scale::Linear && !hide_first;
    if (!as_they_are) pool(input, list[n], hide_first, maps[n]);
  }
  const bool by_rank = grid.range.scale == ColourRange::Scale::Rank;
  if (by_rank) grid.range.ranked = joint_ranks(maps);
  for (std::size_t n = 0; n < list.size(); ++n) {
    ColourRange range = grid.range;
    if (own) set_most(range, largest[n]);
    if (own && by_rank) range.ranked = ranks_of(maps[n].cells.values);
    HeatMap& cells = maps[n].cells;
    cells.least = range.least;
    cells.most = range.most;
    if (range.scale != ColourRange::Scale::Linear) {
      const Scaled numbers = scaled(cells.values, range);
      cells.values = numbers.numbers;
      cells.least = numbers.least;
      cells.most = numbers.most;
    }
    grid.cells.push_back(std::move(cells));
  }
  if (own) set_most(grid.range, 1);
  if (own && by_rank) {  // a share of a map's numbers stands at its share of the bar
    grid.range.scale = ColourRange::Scale::Linear;
  }
  return grid;
}

}  // namespace attnscope
