// Two maps of the same rows and columns, side by side or one below the other.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

struct TitledMap {
  std::vector<std::string> titles;  // the first that fits
  Tensor values;                    // [rows, columns]; NaN: missing
};

struct StackedMaps {
  std::vector<MatrixPlot> plots;
  double bottom = 0;
};
// Places `count` maps at the top of the box; nullopt if they do not fit.
std::optional<StackedMaps> place_stacked_maps(const Page& page, const Box& box,
                                              const TokenAxis& rows, const TokenAxis& columns,
                                              std::size_t count);
// Draws the maps with one colour bar. marked_row: outlined in each map, or -1.
void draw_stacked_maps(Page& page, const StackedMaps& maps, const std::vector<TitledMap>& values,
                       const ColourRange& range, const std::vector<std::string>& bar_titles,
                       Index marked_row, Index marked_column);
// Range for numbers of any magnitude: logarithmic if they span more than a factor of 20.
ColourRange magnitude_range(const Page& page, const std::vector<TitledMap>& maps);

}  // namespace attnscope
