// How the maps of a comparison stand on the page: some beside each other, the table of facts in a
// place of its own.
#pragma once

#include <optional>
#include <vector>

#include "core/view/compare_sides.h"
#include "core/view/matrix_plot.h"

namespace attnscope {

// A map and its place.
struct ComparisonPanel {
  Show show;
  MatrixPlot matrix;
  double heading_y;  // the middle of the line above the map
  Point colour_bar;  // level, as wide as the map
  Box row_bars;      // of how far the rows are apart
};

struct ComparisonPlaces {
  std::vector<ComparisonPanel> panels;
  std::optional<Box> table, refusal;  // the table of facts; why there is no difference
  double bottom;                      // where the content ends
};

// The largest maps that leave space for the table, or without it where it makes them unreadable.
// Without space for three maps of any use the first two are shown; nothing where these have none.
std::optional<ComparisonPlaces> place_comparison(const Page& page, const Box& inside,
                                                 const Sides& sides, std::vector<Show> shown,
                                                 const std::vector<Fact>& facts);

}  // namespace attnscope
