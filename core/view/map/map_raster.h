// Layout of several maps with shared token axes.
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

// Grid of maps of equal size, with a query axis for each row of maps and a key axis for each
// column. Axis titles are in the corner between the axes.
struct MapRaster {
  TokenAxis queries, keys;
  CellSpan rows, columns;            // visible queries and keys
  double left = 0, top = 0;          // depth of the axes
  Index per_row = 1;                 // maps in a row
  double width = 0, height = 0;      // size of a map
  Box box;                           // area of the maps with titles, without axes
  double gap = 0, title_height = 0;  // gap between maps, space above each map
  double left_edge = 0;              // left edge of the available space, where axis titles begin

  Box map(Index n) const {
    const auto x = static_cast<double>(n % per_row), y = static_cast<double>(n / per_row);
    return {box.x + x * (width + gap), box.y + y * (height + title_height + gap) + title_height,
            width, height};
  }
};

// Places `count` maps of a tap's pairs as large as possible in `box`; zero width if they do not
// fit.
MapRaster place_maps(const Page& page, const Box& box, const AttentionTap& tap, Index count);
// Places `count` maps of all pairs of these axes, ignoring the zoom.
MapRaster place_maps(const Page& page, const Box& box, TokenAxis queries, TokenAxis keys,
                     Index count);

// Hit test of the maps; may outlive the page.
struct MapPairAt {
  MapRaster raster;
  Index count;

  // Index of the map at the point; -1 if there is none.
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

// Sets the area for pan and zoom to the hovered map, else to the first map.
void set_plot(ViewLayout& layout, const MapPairAt& at, const std::optional<Point>& pointer);
// ViewLayout::hit for pairs of the selected layer and head. `displayed`: values by map, undefined
// for maps that show the head's weights; undefined tensors at the end can be left out.
std::function<std::optional<Hit>(Point)> hit_test(const MapPairAt& at, const ViewSettings& settings,
                                                  std::vector<Tensor> displayed);

struct NamedCells {
  std::vector<std::string> titles;  // candidates, longest first
  Tensor cells;                     // [L_q, L_k]; cells with NaN stay empty
};
// Draws the maps with axes and a common colour bar. Frames the row of `query` (-1: none) and the
// hovered pair in every map.
void draw_maps(Page& page, const MapRaster& grid, const std::vector<NamedCells>& maps,
               const ColourRange& range, const std::vector<std::string>& bar_titles, Index query,
               const std::optional<Pair>& hovered);

}  // namespace attnscope
