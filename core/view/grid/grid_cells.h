// Values and colours of the grid's thumbnails.
#pragma once

#include <vector>

#include "core/view/grid/grid_raster.h"
#include "core/view/parts/colour_bar.h"

namespace attnscope {

struct GridMaps {
  std::vector<HeatMap> cells;  // in the order of the thumbnails
  ColourRange range;           // range of the colour bar; relative if each map has its own range
  double exact = 1;            // fraction of exact values
};

// Maps with the view's settings. All maps share a colour range, or each map has its own.
GridMaps grid_maps(const ViewInput& input, const GridRaster& raster,
                   const std::vector<Thumbnail>& list, bool hides_first_token);

// True if thumbnails have more cells than pixels.
bool is_pooled(const ViewInput& input, const GridRaster& raster,
               const std::vector<Thumbnail>& list);

}  // namespace attnscope
