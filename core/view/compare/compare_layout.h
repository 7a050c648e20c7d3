// Layout of a comparison: maps side by side, a table of facts next to or below them, notes below.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/view/compare/compare_sides.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

struct ComparisonPanel {
  Show show;
  MatrixPlot matrix;
  double heading_y = 0;                // middle of the first line above the map
  std::vector<std::string> heading{};  // lines next to the side's letter
  std::optional<Box> colour_bar{};     // empty: the next map's bar applies
  bool is_bar_below = true;            // horizontal below the map; false: vertical next to it
  Box row_bars{};                      // bars of the rows' divergence
};

struct ComparisonPlaces {
  std::vector<ComparisonPanel> panels;
  std::optional<Box> table;
  std::vector<Fact> facts;         // rows of the table; fewer if there is little space
  Point notes_start;               // top left of the notes
  std::vector<std::string> notes;  // lines below maps and table, including names of omitted parts
  double bottom;                   // lower edge of the content
};

double heading_line_height(const Page& page);
// Distance from the left edge of a map to its heading's text.
double heading_indent(const Page& page, const char* letter);

// Makes the maps as large as possible. Draws no table if `facts` is empty. Omits the table if the
// maps would otherwise be illegible, and then the map of the difference if three maps would be
// illegible. Returns nullopt if two maps would be illegible.
std::optional<ComparisonPlaces> place_comparison(const Page& page, const Box& inside,
                                                 const Sides& sides, std::vector<Show> shown,
                                                 const std::vector<Fact>& facts,
                                                 const std::string& note);

}  // namespace attnscope
