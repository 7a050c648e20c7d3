// Maps of equal size side by side with shared token axes.
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

// Maps side by side, with one key axis per column and one query axis. Axis titles are in the corner
// between them.
struct MapRaster {
  TokenAxis queries, keys;
  CellSpan rows, columns;
  double left = 0, top = 0;      // depth of the axes
  Index across = 1;              // maps per row
  double width = 0, height = 0;  // of a map
  Box box;                       // maps with titles, without axes
  double gap = 0, title = 0;
  double left_end = 0;  // left edge of the available space, for axis titles

  Box map(Index n) const {
    const auto x = static_cast<double>(n % across), y = static_cast<double>(n / across);
    return {box.x + x * (width + gap), box.y + y * (height + title + gap) + title, width, height};
  }
};

// Places `count` maps of a tap's pairs as large as possible within `box`; zero width: no space.
MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count);
// The same for all pairs of these axes, ignoring zoom.
MapRaster place_maps(const Page& page, const Box& box, TokenAxis queries, TokenAxis keys,
                     Index count);

// Hit test; may outlive the page.
struct MapPairAt {
  MapRaster raster;
  Index count;

  // Index of the map at a point; -1: none.
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

// Enables pan and zoom in the hovered map, else in the first.
void set_plot(ViewLayout& layout, const MapPairAt& at, const std::optional<Point>& pointer);
// ViewLayout::hit: pairs of the selected layer and head. `shown`: values of the maps that show
// something else than this head's weights, undefined for other maps; may be empty.
std::function<std::optional<Hit>(Point)> hit_test(const MapPairAt& at, const ViewSettings& settings,
                                                  std::vector<Tensor> shown);

struct NamedCells {
  std::vector<std::string> titles;  // longest first
  Tensor cells;                     // [L_q, L_k]; NaN is left empty
};
// Draws the maps with axes and a common colour bar. Frames the row of `query` (-1: none) and the
// hovered pair in every map.
void draw_maps(Page& page, const MapRaster& grid, const std::vector<NamedCells>& maps,
               const ColourRange& range, const std::vector<std::string>& bar_titles, Index query,
               const std::optional<Pair>& hovered);

}  // namespace attnscope
