// Heat maps on the CPU: what the pixels of a HeatMap item show.
#pragma once

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

// The matrix of a heat map, downloaded where it lies on a device.  [rows, columns]
Tensor heat_map_cells(const HeatMap& map);

// The number that each pixel shows when the visible part fills width x height pixels; the rule is
// stated at HeatMap. NaN where there is no cell or all cells are NaN.  [height, width]
Tensor heat_map_pixels(const HeatMap& map, int width, int height);

// The same in colours.
Image rasterise(const HeatMap& map, int width, int height);

}  // namespace attnscope
