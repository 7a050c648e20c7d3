// Parts of the Intervene view: maps, and panels with switches, next token, prediction quality.
#pragma once

#include <string>
#include <vector>

#include "core/view/intervene/intervene_data.h"
#include "core/view/intervene/switch_board.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {

inline constexpr std::size_t kMinTokenBars = 4;  // minimum unless space is short

struct PanelContent {
  const Trace& trace;
  const std::vector<Fact>& facts;
  std::string bars_name;  // subject of the bars, such as "the next token"; empty: no bars
};

// Positions of the panels; a panel without space has zero size.
struct PanelLayout {
  BoardSize board;
  Point board_corner;  // top left
  Box bars, facts;
  double bottom = 0;                 // lower edge
  std::vector<std::string> omitted;  // names of panels without space
};

// Places the panels one above the other.
PanelLayout place_column(const Page& page, const Box& box, const PanelContent& content);
// Places the panels side by side, as high as their content. Facts may be below the bars.
PanelLayout place_row(const Page& page, const Box& box, const PanelContent& content);
void move_down(PanelLayout& parts, double distance);

std::size_t bars_that_fit(const Page& page, const Box& bars);

inline constexpr double kMapHeading = 1.9;  // em: badge above a map

// Draws the map of one run below its badge. `remarks`: texts next to the badge, longest first.
// Returns the fraction of exact values.
double draw_run_map(Page& page, const MatrixPlot& map, const SelectedTap& selected,
                    const std::string& badge, Colour colour,
                    const std::vector<std::string>& remarks);
// Outlines pairs that `change` forbids or forces in the selected head; crosses forbidden ones.
void draw_change(Page& page, const MatrixPlot& map, const Intervention& change);

// Draws the likeliest next tokens of both runs after the token at `position`.
void draw_next_token(Page& page, const Box& box, const TwoRuns& runs, Index position);
// Draws the tokens whose final states changed most, for runs without predictions. `similarities`:
// cosine of each token's final states in the two runs.
void draw_state_changes(Page& page, const Box& box, const TwoRuns& runs,
                        const std::vector<double>& similarities);
// Draws the facts as a table, or as lines if the box is too small.
void draw_quality(Page& page, const Box& box, const TwoRuns& runs, const std::vector<Fact>& facts);
// Draws the tokens that can replace the token at `pinned` (-1: none, draws a hint instead), and
// returns a handle for each.
std::vector<Handle> draw_replacements(Page& page, const Box& line, const TwoRuns& runs,
                                      Index pinned);

}  // namespace attnscope
