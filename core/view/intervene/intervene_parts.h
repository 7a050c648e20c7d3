// Panels of the Intervene view next to its maps: switches, next token, prediction quality.
#pragma once

#include <string>
#include <vector>

#include "core/view/intervene/switch_board.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {

inline constexpr std::size_t kMaxTokenBars = 8;
inline constexpr std::size_t kMinTokenBars = 4;  // minimum unless space is short

struct PanelContent {
  const Trace& trace;
  const std::vector<Fact>& facts;
  bool predicts_token;  // the run predicts a next token
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

// True if the facts fit as a table; otherwise each fact is drawn as a line of text.
bool do_facts_fit_as_table(const Page& page, const std::vector<Fact>& facts, double width);
// Texts for the line of a fact, longest first: "Bits per token  5.8 → 5.7", "Bits  5.8 → 5.7".
std::vector<std::string> fact_lines(const Fact& fact);

std::size_t bars_that_fit(const Page& page, const Box& bars);

inline constexpr double kBarsTitle = 1.7;    // em: title above the bars
inline constexpr double kMinBarsHeight = 3;  // em, including the title
inline constexpr double kFactLine = 1.35;    // em: line of a fact outside a table

}  // namespace attnscope
