// Heat maps on the CPU: what the pixels of a HeatMap item show.
#pragma once

#include "core/figure/display_list.h"
#include "core/figure/image.h"

namespace attnscope {

// The matrix of a heat map, downloaded where it lies on a device.  [rows, columns]
Tensor heat_map_cells(const HeatMap& map);

// Cells [first, last) along one axis.
struct CellRange {
  Index first = 0, last = 0;
  bool operator==(const CellRange&) const = default;
};

// Which of an axis's `count` cells each of `pixels` pixels shows when they span
// [start, start + extent): one under its centre, or all that it overlaps. Empty: none. Ranges never
// run backwards.  [pixels]
std::vector<CellRange> cells_of_pixels(double start, double extent, int pixels, Index count,
                                       bool pooled);

// The number that each pixel shows when the visible part fills width x height pixels; the rule is
// stated at HeatMap. NaN where there is no cell or all cells are NaN.  [height, width]
Tensor heat_map_pixels(const HeatMap& map, int width, int height);

// The same in colours.
Image rasterise(const HeatMap& map, int width, int height);

}  // namespace attnscope
