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

struct HeadMap {
  HeatMap cells;
  ShownCells shown;
};

HeadMap head_map(const ViewInput& input, const Thumbnail& thumbnail, const Box& box) {
  HeatMap cells;
  cells.box = box;
  cells.height = static_cast<double>(thumbnail.tap->queries());
  cells.width = static_cast<double>(thumbnail.tap->keys());
  cells.colour_map = input.session.view.colour_map;
  const ShownCells shown = set_cells(cells, input, *thumbnail.tap, thumbnail.head_in_group);
  return {cells, shown};
}

// Settings that determine the values of a map.
struct ValueOptions {
  bool hide_first;
  RowScale row_scale;
  bool are_weights() const { return !hide_first && row_scale == RowScale::None; }
};

// Values of a map after row scaling. The column of a hidden first token is NaN and not scaled.
Tensor visible_values(const Thumbnail& thumbnail, const HeadMap& head_map,
                      const ValueOptions& options) {
  Tensor numbers = heat_map_cells(head_map.cells);
  if (options.hide_first) hide_column(numbers, first_token_column(*thumbnail.tap), head_map.shown);
  if (options.row_scale != RowScale::None) {
    numbers = row_scaled(numbers, options.row_scale, *thumbnail.tap, thumbnail.head_in_group,
                         head_map.shown);
  }
  return numbers;
}

// Cache key of a run's values.
CacheKey grid_key(std::string_view result, const ViewInput& input, const ValueOptions& options) {
  return CacheKey(result, input.part(), options.hide_first, options.row_scale);
}

bool all_stored(const std::vector<Thumbnail>& list) {
  return std::ranges::all_of(list, [](const Thumbnail& t) { return is_whole(*t.tap); });
}

bool on_device(const Thumbnail& thumbnail) {
  return thumbnail.tap->result.device != nullptr;
}

// visible_values(), pooled to `width` x `height` pixels if there are more cells.
Tensor pixel_numbers(const ViewInput& input, const Thumbnail& thumbnail,
                     const ValueOptions& options, const HeadMap& head_map, int width, int height) {
  HeatMap map = head_map.cells;
  map.values = visible_values(thumbnail, head_map, options);
  map.device = nullptr;
  map.plane = 0;
  return is_pooled(head_map.cells, input.canvas.scale) ? heat_map_pixels(map, width, height)
                                                       : map.values;
}

// Pooled values of all maps.
using Numbers = std::map<std::pair<Index, Index>, Tensor>;  // {layer, head} -> values
void pool(const ViewInput& input, const std::vector<Thumbnail>& list, const ValueOptions& options,
          std::vector<HeadMap>& maps) {
  if (list.empty()) return;
  const Box& box = maps.front().cells.box;  // all have the same size
  const auto pixels = [&](double size) {
    return static_cast<int>(std::ceil(size * input.canvas.scale));
  };
  const int width = pixels(box.width), height = pixels(box.height);
  const auto pool_maps = [&](const std::vector<Thumbnail>& heads,
                             const std::vector<HeadMap>& head_maps) {
    Numbers result;
    for (const Thumbnail& t : heads) result[{t.layer, t.head}] = {};
    const auto make = [&](Index first, Index last) {
      for (Index n = first; n < last; ++n) {
        const auto i = static_cast<std::size_t>(n);
        result.at({heads[i].layer, heads[i].head}) =
            pixel_numbers(input, heads[i], options, head_maps[i], width, height);
      }
    };
    // Computing or fetching a map already uses all cores.
    const bool in_memory = all_stored(heads) &&
                           std::ranges::none_of(heads, [](const auto& t) { return on_device(t); });
    const auto count = static_cast<Index>(heads.size());
    parallel_for(count, in_memory ? 1 : count, make);
    return result;
  };
  std::shared_ptr<const Numbers> numbers;
  if (input.cache != nullptr && all_stored(list)) {
    const CacheKey key =
        grid_key("grid pixels", input, options).with(width, height, maps.front().cells.colour_map);
    numbers = input.cache->numbers(source_of(input.trace), key, [&] {
      const std::vector<Thumbnail> all = thumbnails(input.trace, input.part());
      std::vector<HeadMap> all_maps;
      for (const Thumbnail& t : all) {
        all_maps.push_back(head_map(input, t, box));
        all_maps.back().cells.colour_map = maps.front().cells.colour_map;
      }
      return pool_maps(all, all_maps);
    });
  } else {
    numbers = std::make_shared<const Numbers>(pool_maps(list, maps));
  }
  for (std::size_t n = 0; n < list.size(); ++n) {
    HeatMap& cells = maps[n].cells;
    const bool needs_pooling = is_pooled(cells, input.canvas.scale);
    cells.values = numbers->at({list[n].layer, list[n].head});
    cells.device = nullptr;
    cells.plane = 0;
    if (!needs_pooling) continue;
    cells.row = cells.column = 0;
    cells.height = height;
    cells.width = width;
  }
}

// Magnitudes that determine the colour range of a map.
struct Magnitudes {
  std::vector<float> sampled;  // without rows that have a single key
  double single = 0;           // largest weight of those rows
};

Magnitudes magnitudes_of(const Thumbnail& thumbnail, const HeadMap& head_map,
                         const ValueOptions& options, Index limit) {
  HeatMap cells = head_map.cells;
  if (!options.are_weights()) {
    cells.values = visible_values(thumbnail, head_map, options);
    cells.device = nullptr;
    cells.plane = 0;
  }
  const AttentionTap& tap = *thumbnail.tap;
  const Index head = thumbnail.head_in_group;
  return {visible_magnitudes(cells, tap, head, head_map.shown, limit),
          largest_single_weight(cells, tap, head, head_map.shown)};
}

// sampled_ranks() of values sampled from all maps.
std::vector<float> joint_ranks(const std::vector<HeadMap>& maps) {
  constexpr Index kMaxNumbers = Index{1} << 20;
  std::vector<float> numbers;
  const Index per_map = std::max<Index>(1, kMaxNumbers / static_cast<Index>(maps.size()));
  for (const HeadMap& map : maps) {
    const Tensor& values = map.cells.values;
    const Index step = 1 + values.size() / per_map;
    for (Index i = 0; i < values.size(); i += step) numbers.push_back(values[i]);
  }
  return sampled_ranks(Tensor::from({static_cast<Index>(numbers.size())}, numbers));
}

struct Ends {
  ColourRange common;
  std::map<std::pair<Index, Index>, ColourRange> by_head;  // {layer, head} -> range; empty: common
};

// maps: of the thumbnails in `list`
Ends make_ends(const ViewInput& input, const std::vector<Thumbnail>& list,
               const std::vector<HeadMap>& maps, const ValueOptions& options, bool own,
               const ColourRange& common, bool with_signs) {
  constexpr Index kMaxMagnitudes = Index{1} << 19;  // limit for all maps together
  const ColourEnd end = input.session.view.colour_end;
  const auto heads = static_cast<Index>(thumbnails(input.trace, input.part()).size());
  const Index per_map = std::max<Index>(1024, kMaxMagnitudes / std::max<Index>(1, heads));
  Ends ends{common, {}};
  const bool has_fixed_end = end == ColourEnd::One && !with_signs;
  const auto set_end = [&](ColourRange& range, Magnitudes& magnitudes) {
    if (has_fixed_end) return;
    set_range_end(range, std::move(magnitudes.sampled), end, with_signs);
    include_single_weight(range, magnitudes.single);
  };
  Magnitudes joint;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const Thumbnail& t = list[n];
    Magnitudes sizes = magnitudes_of(t, maps[n], options, per_map);
    if (own) {
      set_end(ends.by_head[{t.layer, t.head}] = common, sizes);
    } else {
      joint.sampled.insert(joint.sampled.end(), sizes.sampled.begin(), sizes.sampled.end());
      joint.single = std::max(joint.single, sizes.single);
    }
  }
  if (!own) set_end(ends.common, joint);
  return ends;
}

// Colour ranges of all maps, without ColourRange::ranked. maps: of the thumbnails in `list`
std::vector<ColourRange> ranges_of(const ViewInput& input, const std::vector<Thumbnail>& list,
                                   const std::vector<HeadMap>& maps, const ValueOptions& options,
                                   bool is_own, const ColourRange& common, bool with_signs) {
  std::vector<ColourRange> ranges(list.size(), common);
  if (options.row_scale == RowScale::Largest) return ranges;
  CacheKey key = grid_key("grid ends", input, options)
                     .with(input.session.view.colour_end, is_own, with_signs, common.scale);
  if (!is_own) {  // common to all visible maps
    for (const Thumbnail& t : list) key = key.with(t.layer, t.head);
  }
  const auto make = [&] {
    return make_ends(input, list, maps, options, is_own, common, with_signs);
  };
  const auto make_all = [&] {  // of all heads, for later layouts
    if (!is_own) return make();
    const std::vector<Thumbnail> heads = thumbnails(input.trace, input.part());
    std::vector<HeadMap> all_maps;
    for (const Thumbnail& t : heads) all_maps.push_back(head_map(input, t, {}));
    return make_ends(input, heads, all_maps, options, is_own, common, with_signs);
  };
  const bool is_cached = input.cache != nullptr && all_stored(list);
  const Ends ends =
      is_cached ? *input.cache->numbers(source_of(input.trace), key, make_all) : make();
  for (std::size_t n = 0; n < list.size(); ++n) {
    const auto known = ends.by_head.find({list[n].layer, list[n].head});
    const ColourRange& found = known != ends.by_head.end() ? known->second : ends.common;
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
                   const std::vector<Thumbnail>& list, bool hides_first_token) {
  const Values settings = view_values(input.session.view, "grid");
  const bool is_own = settings.flag("own");
  const ValueOptions options{hides_first_token, row_scale_of(settings)};
  GridMaps grid;
  grid.exact = 0;
  bool with_signs = false;  // a map has negative values: all use diverging colours
  std::vector<HeadMap> maps;
  for (const Thumbnail& thumbnail : list) {
    maps.push_back(
        head_map(input, thumbnail, raster.box_of(thumbnail.layer, thumbnail.head).value()));
    grid.exact += maps.back().shown.exact;
    with_signs |= is_signed(*thumbnail.tap, thumbnail.head_in_group);
  }
  if (!list.empty()) grid.exact /= static_cast<double>(list.size());
  grid.range = weight_colours(input, with_signs);
  grid.range.scale = scale_of(settings);
  std::vector<ColourRange> ranges =
      ranges_of(input, list, maps, options, is_own, grid.range, with_signs);
  bool needs_pooling = grid.range.scale != ColourRange::Scale::Linear || !options.are_weights();
  for (std::size_t n = 0; n < list.size(); ++n) {
    maps[n].cells.colour_map = grid.range.colour_map;
    // Pooling here once is faster than in the shader on each frame.
    needs_pooling |= is_pooled(maps[n].cells, input.canvas.scale) && !on_device(list[n]) &&
                     is_whole(*list[n].tap);
  }
  if (needs_pooling) pool(input, list, options, maps);
  const bool by_rank = grid.range.scale == ColourRange::Scale::Rank;
  const std::vector<float> joint = by_rank && !is_own ? joint_ranks(maps) : std::vector<float>();
  for (std::size_t n = 0; n < list.size(); ++n) {
    ColourRange& range = ranges[n];
    HeatMap& cells = maps[n].cells;
    if (by_rank) range.ranked = is_own ? sampled_ranks(cells.values) : joint;
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
  if (!is_own && !ranges.empty()) grid.range = ranges.front();
  if (is_own && by_rank) {  // rank quantiles map linearly to the bar
    grid.range.scale = ColourRange::Scale::Linear;
  }
  if (is_own) grid.range.smallest = kLogSpan;
  return grid;
}

}  // namespace attnscope
