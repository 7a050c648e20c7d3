// The numbers of the grid's thumbnails, and which colours they get.
#pragma once

#include <vector>

#include "core/view/grid/grid_raster.h"
#include "core/view/parts/colour_bar.h"

namespace attnscope {

struct GridMaps {
  std::vector<HeatMap> cells;  // as the thumbnails that were given
  ColourRange range;  // for the bar: of all maps, or shares of where each map's colours end
  double exact = 1;   // share of the numbers that is
};

// By the grid's parameters, on one scale or each on its own.
GridMaps grid_maps(const ViewInput& input, const GridRaster& raster,
                   const std::vector<Thumbnail>& list);

// Whether thumbnails have more cells than pixels.
bool is_pooled(const ViewInput& input, const GridRaster& raster,
               const std::vector<Thumbnail>& list);

}  // namespace attnscope
