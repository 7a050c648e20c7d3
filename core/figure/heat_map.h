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
// cells: the one under the pixel's centre, or all that it overlaps if pooled. May be empty. Ranges
// are monotone.  [pixels]
std::vector<CellRange> cells_of_pixels(double start, double extent, int pixels, Index count,
                                       bool pooled);

// Value of each pixel if the visible range fills width x height pixels, by the rule of HeatMap. NaN
// without a cell or if all cells are NaN.  [height, width]
Tensor heat_map_pixels(const HeatMap& map, int width, int height);

// heat_map_pixels() as colours.
Image rasterise(const HeatMap& map, int width, int height);

}  // namespace attnscope
