// Several maps of one size beside each other, under shared axes of tokens.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/view/lines/line_set.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// Maps beside each other, under one axis of keys for each column and beside one of queries. What
// the axes are stands in the corner between them.
struct MapRaster {
  TokenAxis queries, keys;
  CellSpan rows, columns;
  double left = 0, top = 0;  // depth of the axes
  Index across = 1;
  double width = 0, height = 0;  // of a map
  Box box;                       // of the maps with their titles, without axes
  double gap = 0, title = 0;
  double left_end = 0;  // of the space that all this has

  Box map(Index n) const {
    const auto x = static_cast<double>(n % across), y = static_cast<double>(n / across);
    return {box.x + x * (width + gap), box.y + y * (height + title + gap) + title, width, height};
  }
};

// `count` maps of a tap's pairs, as large as they can be within `box`; no width: no space.
MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count);
// The same of all pairs between these axes, whatever is zoomed elsewhere.
MapRaster place_maps(const Page& page, const Box& box, TokenAxis queries, TokenAxis keys,
                     Index count);

// What lies at a point. Kept after the page is gone.
struct MapPairAt {
  MapRaster raster;
  Index count;

  // The map at a point; -1: none.
  Index map_at(Point p) const {
    for (Index n = 0; n < count; ++n) {
      if (raster.map(n).contains(p)) return n;
    }
    return -1;
  }
  std::optional<Pair> operator()(Point p) const {
    const Index n = map_at(p);
    if (n < 0) return std::nullopt;
    const Box box = raster.map(n);
    const double row = raster.rows.first + (p.y - box.y) / box.height * raster.rows.extent;
    const double column = raster.columns.first + (p.x - box.x) / box.width * raster.columns.extent;
    return Pair{std::clamp<Index>(static_cast<Index>(row), 0, raster.queries.count() - 1),
                std::clamp<Index>(static_cast<Index>(column), 0, raster.keys.count() - 1)};
  }
};

// Lets the layout's pan and zoom act in the map under the pointer, otherwise in the first.
void set_plot(ViewLayout& layout, const MapPairAt& at, const std::optional<Point>& pointer);
// ViewLayout::hit: the pairs of the settings' layer and head. `shown`: the maps whose numbers are
// not this head's weights, undefined ones for those whose are; none: all are.
std::function<std::optional<Hit>(Point)> hits_of(const MapPairAt& at, const ViewSettings& settings,
                                                 std::vector<Tensor> shown);

struct NamedCells {
  std::vector<std::string> titles;  // the first that fits
  Tensor cells;                     // [L_q, L_k]; NaN is left empty
};
// With axes and a colour bar for all. The row of `query` is framed (-1: none), and the hovered
// pair in every map.
void draw_maps(Page& page, const MapRaster& m, const std::vector<NamedCells>& maps,
               const ColourRange& range, const std::vector<std::string>& bar_titles, Index query,
               const std::optional<Pair>& hovered);

}  // namespace attnscope
