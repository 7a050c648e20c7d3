#include "core/view/grid/grid_cells.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/experiment/head_table.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/not_allowed.h"
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

// What of the settings makes numbers of weights.
struct Seen {
  bool hide_first;
  RowScale row_scale;
  std::string name() const {
    return (hide_first ? " hidden " : " ") + std::to_string(static_cast<int>(row_scale));
  }
  bool as_they_are() const { return !hide_first && row_scale == RowScale::None; }
};

// The numbers that are to be seen, which scales go by: without the first token where it is hidden.
Tensor seen_numbers(const Thumbnail& thumbnail, const Shown& shown, const Seen& as) {
  Tensor numbers = heat_map_cells(shown.cells);
  if (as.hide_first) hide_column(numbers, first_token_column(*thumbnail.tap), shown.seen);
  if (as.row_scale != RowScale::None) {
    numbers =
        row_scaled(numbers, as.row_scale, *thumbnail.tap, thumbnail.head_in_group, shown.seen);
  }
  return numbers;
}

// Replaces the numbers by those that the pixels show, without the first token where it is hidden.
// Pooling comes before a scale: the order of numbers, which it goes by, is the same after it.
void pool(const ViewInput& input, const Thumbnail& thumbnail, const Seen& as, Shown& shown) {
  HeatMap& cells = shown.cells;
  const bool pooled = is_pooled(cells, input.scale);
  const auto pixels = [&](double size) { return static_cast<int>(std::ceil(size * input.scale)); };
  const int width = pixels(cells.box.width), height = pixels(cells.box.height);
  const auto make = [&] {
    HeatMap whole = cells;
    whole.values = seen_numbers(thumbnail, shown, as);
    whole.device = nullptr;
    whole.plane = 0;
    return pooled ? heat_map_pixels(whole, width, height) : whole.values;
  };
  const bool keep = input.cache != nullptr && is_whole(*thumbnail.tap);
  const std::string name = "grid " + part_words(input.trace.parts, shown_part(input)) + " " +
                           std::to_string(thumbnail.layer) + " " + std::to_string(thumbnail.head) +
                           as.name() + " " + std::to_string(width) + " " + std::to_string(height) +
                           " " + cells.colour_map;
  cells.values = keep ? input.cache->matrix(source_of(input.trace), name, make) : make();
  cells.device = nullptr;
  cells.plane = 0;
  if (!pooled) return;
  cells.row = cells.column = 0;
  cells.height = height;
  cells.width = width;
}

// The magnitudes that tell where the colours of a map end: of about so many.
std::vector<float> sizes_of(const Thumbnail& thumbnail, const Shown& shown, const Seen& as,
                            Index most) {
  HeatMap cells = shown.cells;
  if (!as.as_they_are()) {
    cells.values = seen_numbers(thumbnail, shown, as);
    cells.device = nullptr;
    cells.plane = 0;
  }
  return sizes_in_sight(cells, *thumbnail.tap, thumbnail.head_in_group, shown.seen, most);
}

// The same of all maps, kept for the run where they are there as a whole; in the list's order.
using Sizes = std::map<std::pair<Index, Index>, std::vector<float>>;  // by layer and head
std::vector<std::vector<float>> all_sizes(const ViewInput& input,
                                          const std::vector<Thumbnail>& list,
                                          const std::vector<Shown>& maps, const Seen& as,
                                          Index most) {
  std::vector<std::vector<float>> sizes;
  const bool whole = std::ranges::all_of(list, [](const Thumbnail& t) { return is_whole(*t.tap); });
  if (input.cache == nullptr || !whole) {
    for (std::size_t n = 0; n < list.size(); ++n) {
      sizes.push_back(sizes_of(list[n], maps[n], as, most));
    }
    return sizes;
  }
  const TracePart part = shown_part(input);
  const std::string name = "grid sizes " + part_words(input.trace.parts, part) + as.name();
  const auto kept = input.cache->numbers(source_of(input.trace), name, [&] {
    Sizes made;
    for (const Thumbnail& t : thumbnails(input.trace, part)) {
      made[{t.layer, t.head}] = sizes_of(t, shown(input, t, {}), as, most);
    }
    return made;
  });
  for (const Thumbnail& t : list) sizes.push_back(kept->at({t.layer, t.head}));
  return sizes;
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

// The ranges of all maps, as the settings want them, apart from ranks: one for all, or each its
// own.
std::vector<ColourRange> ranges_of(const ViewInput& input, const std::vector<Thumbnail>& list,
                                   const std::vector<Shown>& maps, const Seen& as, bool own,
                                   const ColourRange& common, bool with_signs) {
  constexpr Index kMost = Index{1} << 19;  // of all maps
  std::vector<ColourRange> ranges(list.size(), common);
  if (as.row_scale == RowScale::Largest) return ranges;
  const ColourEnd end = input.experiment.view.colour_end;
  const auto heads = static_cast<Index>(thumbnails(input.trace, shown_part(input)).size());
  const Index of_each = std::max<Index>(1024, kMost / std::max<Index>(1, heads));
  std::vector<float> all;
  std::vector<std::vector<float>> sizes = all_sizes(input, list, maps, as, of_each);
  for (std::size_t n = 0; n < list.size(); ++n) {
    if (own) {
      set_end(ranges[n], std::move(sizes[n]), end, with_signs);
    } else {
      all.insert(all.end(), sizes[n].begin(), sizes[n].end());
    }
  }
  if (!own) {
    ColourRange joint = common;
    set_end(joint, std::move(all), end, with_signs);
    std::fill(ranges.begin(), ranges.end(), joint);
  }
  for (ColourRange& range : ranges) range.smallest = kLogSpan * range.most;
  return ranges;
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
  const bool own = options.flag("own");
  const Seen as{options.flag("hide_first"), row_scale_of(options)};
  GridMaps grid;
  grid.exact = 0;
  bool with_signs = false;  // all maps share the colours that one with signs needs
  std::vector<Shown> maps;
  for (const Thumbnail& thumbnail : list) {
    maps.push_back(shown(input, thumbnail, raster.box_of(thumbnail.layer, thumbnail.head).value()));
    grid.exact += maps.back().seen.exact;
    with_signs |= is_signed(*thumbnail.tap, thumbnail.head_in_group);
  }
  if (!list.empty()) grid.exact /= static_cast<double>(list.size());
  grid.range = weight_colours(input, with_signs);
  grid.range.scale = scale_of(options);
  std::vector<ColourRange> ranges = ranges_of(input, list, maps, as, own, grid.range, with_signs);
  for (std::size_t n = 0; n < list.size(); ++n) {
    maps[n].cells.colour_map = grid.range.colour_map;
    const bool linear = grid.range.scale == ColourRange::Scale::Linear;
    if (!linear || !as.as_they_are()) pool(input, list[n], as, maps[n]);
  }
  const bool by_rank = grid.range.scale == ColourRange::Scale::Rank;
  const std::vector<float> joint = by_rank && !own ? joint_ranks(maps) : std::vector<float>();
  for (std::size_t n = 0; n < list.size(); ++n) {
    ColourRange& range = ranges[n];
    HeatMap& cells = maps[n].cells;
    if (by_rank) range.ranked = own ? ranks_of(cells.values) : joint;
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
  if (!own && !ranges.empty()) grid.range = ranges.front();
  if (own && by_rank) {  // a share of a map's numbers stands at its share of the bar
    grid.range.scale = ColourRange::Scale::Linear;
  }
  if (own) grid.range.smallest = kLogSpan;
  return grid;
}

}  // namespace attnscope
