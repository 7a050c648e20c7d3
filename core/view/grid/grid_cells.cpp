#include "core/view/grid/grid_cells.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/parallel.h"
#include "core/experiment/head_table.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

bool is_pooled(const HeatMap& cells, double scale) {
  return cells.width > cells.box.width * scale || cells.height > cells.box.height * scale;
}

// A head's map with its thumbnail.
struct Shown {
  HeatMap cells;
  ShownCells seen;
};

Shown shown(const ViewInput& input, const Thumbnail& thumbnail, const Box& box) {
  HeatMap cells;
  cells.box = box;
  cells.height = static_cast<double>(thumbnail.tap->queries());
  cells.width = static_cast<double>(thumbnail.tap->keys());
  cells.colour_map = input.session.view.colour_map;
  const ShownCells seen = set_cells(cells, input, *thumbnail.tap, thumbnail.head_in_group);
  return {cells, seen};
}

// Settings that determine the values.
struct Seen {
  bool hide_first;
  RowScale row_scale;
  bool as_they_are() const { return !hide_first && row_scale == RowScale::None; }
};

// Visible values, which scales depend on: without the first token if it is hidden.
Tensor seen_numbers(const Thumbnail& thumbnail, const Shown& shown, const Seen& as) {
  Tensor numbers = heat_map_cells(shown.cells);
  if (as.hide_first) hide_column(numbers, first_token_column(*thumbnail.tap), shown.seen);
  if (as.row_scale != RowScale::None) {
    numbers =
        row_scaled(numbers, as.row_scale, *thumbnail.tap, thumbnail.head_in_group, shown.seen);
  }
  return numbers;
}

// Cache key of a run's values.
CacheKey grid_key(std::string_view result, const ViewInput& input, const Seen& as) {
  return CacheKey(result, input.part(), as.hide_first, as.row_scale);
}

bool all_whole(const std::vector<Thumbnail>& list) {
  return std::ranges::all_of(list, [](const Thumbnail& t) { return is_whole(*t.tap); });
}

bool on_device(const Thumbnail& thumbnail) {
  return thumbnail.tap->result.device != nullptr;
}

// Values of the pixels, without the first token if it is hidden. Pools before scaling, which keeps
// the order of numbers.
Tensor pixel_numbers(const ViewInput& input, const Thumbnail& thumbnail, const Seen& as,
                     const Shown& shown, int width, int height) {
  HeatMap whole = shown.cells;
  whole.values = seen_numbers(thumbnail, shown, as);
  whole.device = nullptr;
  whole.plane = 0;
  return is_pooled(shown.cells, input.canvas.scale) ? heat_map_pixels(whole, width, height)
                                                    : whole.values;
}

// Values of all maps after scaling.
using Numbers = std::map<std::pair<Index, Index>, Tensor>;  // by layer and head
void pool(const ViewInput& input, const std::vector<Thumbnail>& list, const Seen& as,
          std::vector<Shown>& maps) {
  if (list.empty()) return;
  const Box& box = maps.front().cells.box;  // all have the same size
  const auto pixels = [&](double size) {
    return static_cast<int>(std::ceil(size * input.canvas.scale));
  };
  const int width = pixels(box.width), height = pixels(box.height);
  const auto make_of = [&](const std::vector<Thumbnail>& some, const std::vector<Shown>& of_some) {
    Numbers made;
    for (const Thumbnail& t : some) made[{t.layer, t.head}] = {};
    const auto make = [&](Index first, Index last) {
      for (Index n = first; n < last; ++n) {
        const auto at = static_cast<std::size_t>(n);
        made.at({some[at].layer, some[at].head}) =
            pixel_numbers(input, some[at], as, of_some[at], width, height);
      }
    };
    // Maps that must be computed or fetched are so with all cores already.
    const bool there =
        all_whole(some) && std::ranges::none_of(some, [](const auto& t) { return on_device(t); });
    const auto count = static_cast<Index>(some.size());
    parallel_for(count, there ? 1 : count, make);
    return made;
  };
  std::shared_ptr<const Numbers> numbers;
  if (input.cache != nullptr && all_whole(list)) {
    const CacheKey key =
        grid_key("grid pixels", input, as).with(width, height, maps.front().cells.colour_map);
    numbers = input.cache->numbers(source_of(input.trace), key, [&] {
      const std::vector<Thumbnail> all = thumbnails(input.trace, input.part());
      std::vector<Shown> of_all;
      for (const Thumbnail& t : all) {
        of_all.push_back(shown(input, t, box));
        of_all.back().cells.colour_map = maps.front().cells.colour_map;
      }
      return make_of(all, of_all);
    });
  } else {
    numbers = std::make_shared<const Numbers>(make_of(list, maps));
  }
  for (std::size_t n = 0; n < list.size(); ++n) {
    HeatMap& cells = maps[n].cells;
    const bool pooled = is_pooled(cells, input.canvas.scale);
    cells.values = numbers->at({list[n].layer, list[n].head});
    cells.device = nullptr;
    cells.plane = 0;
    if (!pooled) continue;
    cells.row = cells.column = 0;
    cells.height = height;
    cells.width = width;
  }
}

// Magnitudes that determine the colour range of a map, sampled.
std::vector<float> sizes_of(const Thumbnail& thumbnail, const Shown& shown, const Seen& as,
                            Index most) {
  HeatMap cells = shown.cells;
  if (!as.as_they_are()) {
    cells.values = seen_numbers(thumbnail, shown, as);
    cells.device = nullptr;
    cells.plane = 0;
  }
  return visible_magnitudes(cells, *thumbnail.tap, thumbnail.head_in_group, shown.seen, most);
}

// Ranks among the numbers of all maps, sampled.
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

// Colour ranges: common or one per map.
struct Ends {
  ColourRange all;
  std::map<std::pair<Index, Index>, ColourRange> own;  // by layer and head
};

Ends ends_of(const ViewInput& input, const std::vector<Thumbnail>& list, const Seen& as, bool own,
             const ColourRange& common, bool with_signs) {
  constexpr Index kMost = Index{1} << 19;  // of all maps
  const ColourEnd end = input.session.view.colour_end;
  const auto heads = static_cast<Index>(thumbnails(input.trace, input.part()).size());
  const Index of_each = std::max<Index>(1024, kMost / std::max<Index>(1, heads));
  Ends ends{common, {}};
  std::vector<float> all;
  for (const Thumbnail& t : list) {
    std::vector<float> sizes = sizes_of(t, shown(input, t, {}), as, of_each);
    if (own) {
      set_range_end(ends.own[{t.layer, t.head}] = common, std::move(sizes), end, with_signs);
    } else {
      all.insert(all.end(), sizes.begin(), sizes.end());
    }
  }
  if (!own) set_range_end(ends.all, std::move(all), end, with_signs);
  return ends;
}

// Colour ranges of all maps by the settings, except for ranks.
std::vector<ColourRange> ranges_of(const ViewInput& input, const std::vector<Thumbnail>& list,
                                   const Seen& as, bool own, const ColourRange& common,
                                   bool with_signs) {
  std::vector<ColourRange> ranges(list.size(), common);
  if (as.row_scale == RowScale::Largest) return ranges;
  CacheKey key = grid_key("grid ends", input, as)
                     .with(input.session.view.colour_end, own, with_signs, common.scale);
  if (!own) {  // common to all visible maps
    for (const Thumbnail& t : list) key = key.with(t.layer, t.head);
  }
  const auto make = [&] {
    const std::vector<Thumbnail> each =
        own ? thumbnails(input.trace, input.part()) : std::vector<Thumbnail>();
    return ends_of(input, own ? each : list, as, own, common, with_signs);
  };
  const bool keeps = input.cache != nullptr && all_whole(list);
  const Ends ends = keeps ? *input.cache->numbers(source_of(input.trace), key, make) : make();
  for (std::size_t n = 0; n < list.size(); ++n) {
    const auto known = ends.own.find({list[n].layer, list[n].head});
    const ColourRange& found = known != ends.own.end() ? known->second : ends.all;
    ranges[n].least = found.least;
    ranges[n].most = found.most;
    ranges[n].passed = found.passed;
    ranges[n].smallest = kLogSpan * found.most;
  }
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
    return is_pooled(cells, input.canvas.scale);
  });
}

GridMaps grid_maps(const ViewInput& input, const GridRaster& raster,
                   const std::vector<Thumbnail>& list) {
  const Values options = view_values(input.session.view, "grid");
  const bool own = options.flag("own");
  const Seen as{options.flag("hide_first"), row_scale_of(options)};
  GridMaps grid;
  grid.exact = 0;
  bool with_signs = false;  // if any map has signs, all use a diverging map
  std::vector<Shown> maps;
  for (const Thumbnail& thumbnail : list) {
    maps.push_back(shown(input, thumbnail, raster.box_of(thumbnail.layer, thumbnail.head).value()));
    grid.exact += maps.back().seen.exact;
    with_signs |= is_signed(*thumbnail.tap, thumbnail.head_in_group);
  }
  if (!list.empty()) grid.exact /= static_cast<double>(list.size());
  grid.range = weight_colours(input, with_signs);
  grid.range.scale = scale_of(options);
  std::vector<ColourRange> ranges = ranges_of(input, list, as, own, grid.range, with_signs);
  bool pools = grid.range.scale != ColourRange::Scale::Linear || !as.as_they_are();
  for (std::size_t n = 0; n < list.size(); ++n) {
    maps[n].cells.colour_map = grid.range.colour_map;
    // Pools once here instead of in the shader on each frame.
    pools |= is_pooled(maps[n].cells, input.canvas.scale) && !on_device(list[n]) &&
             is_whole(*list[n].tap);
  }
  if (pools) pool(input, list, as, maps);
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
  if (own && by_rank) {  // rank quantiles map linearly to the bar
    grid.range.scale = ColourRange::Scale::Linear;
  }
  if (own) grid.range.smallest = kLogSpan;
  return grid;
}

}  // namespace attnscope
