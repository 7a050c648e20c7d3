// Heat maps on the CPU: from a HeatMap item to pixels.
#pragma once

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

// The matrix of a heat map, downloaded if it is on a device.  [rows, columns]
Tensor heat_map_cells(const HeatMap& map);

// Cells [first, last) along one axis.
struct CellRange {
  Index first = 0, last = 0;
  bool operator==(const CellRange&) const = default;
};

// Cells shown by each of `pixels` pixels that span [start, start + extent) of an axis with `count`
// cells: the cell under the pixel's centre or, if pooled, all cells that it overlaps. Ranges may be
// empty, and are monotone.  [pixels]
std::vector<CellRange> cells_of_pixels(double start, double extent, int pixels, Index count,
                                       bool pooled);

// Value of each pixel, as described at HeatMap, if the visible range fills width x height pixels.
// NaN for pixels without a cell or with NaN cells only.  [height, width]
Tensor heat_map_pixels(const HeatMap& map, int width, int height);

// heat_map_pixels() as colours.
Image rasterise(const HeatMap& map, int width, int height);

}  // namespace attnscope
