// How the maps of a comparison stand on the page: some beside each other, the table of facts in a
// place of its own, what else there is to say below all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/compare/compare_sides.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

// A map and its place.
struct ComparisonPanel {
  Show show;
  MatrixPlot matrix;
  double heading_y = 0;                // the middle of the first line above the map
  std::vector<std::string> heading{};  // after the side's letter, a line each
  std::optional<Box> colour_bar{};     // none: that of the map beside it holds
  bool level_bar = true;               // below the map, as wide as it; otherwise upright beside it
  Box row_bars{};                      // of how far the rows are apart
};

struct ComparisonPlaces {
  std::vector<ComparisonPanel> panels;
  std::optional<Box> table;  // of facts
  std::vector<Fact> facts;   // in it: fewer where there is little space
  Point notes_at;
  std::vector<std::string> notes;  // lines, from there down; they say what has no space, too
  double bottom;                   // where the content ends
};

double heading_line(const Page& page);  // from line to line
// From the left edge of a map to the words of its heading.
double heading_indent(const Page& page, const char* letter);

// The largest maps that leave space for the table, or without it where it makes them unreadable.
// Without space for three maps of any use the first two are shown; nothing where these have none.
std::optional<ComparisonPlaces> place_comparison(const Page& page, const Box& inside,
                                                 const Sides& sides, std::vector<Show> shown,
                                                 const std::vector<Fact>& facts,
                                                 const std::string& note);

}  // namespace attnscope
