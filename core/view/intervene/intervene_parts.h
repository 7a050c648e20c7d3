// Parts of the Intervene view other than its maps: switches, next token, prediction quality.
#pragma once

#include <string>
#include <vector>

#include "core/view/intervene/switch_board.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {

inline constexpr std::size_t kTokens = 8;  // bars, at most
inline constexpr std::size_t kMinTokens = 4;

struct OtherContent {
  const Trace& trace;
  const std::vector<Fact>& facts;
  bool foresees;  // predicts a next token
};

// Positions; zero size: no space.
struct OtherParts {
  BoardSize board;
  Point board_at;
  Box bars, facts;
  double bottom = 0;                 // lower edge
  std::vector<std::string> missing;  // names of omitted parts
};

// Stacks the parts.
OtherParts place_column(const Page& page, const Box& box, const OtherContent& content);
// Places parts side by side, no higher than useful; facts go below the bars if there is space.
OtherParts place_row(const Page& page, const Box& box, const OtherContent& content);
void move_down(OtherParts& parts, double by);

// Facts are a table, or lines if it is too wide.
inline constexpr double kFactLine = 1.35;  // em
bool facts_in_table(const Page& page, const std::vector<Fact>& facts, double width);
// Such a line, longest first: "Bits per token  5.8 → 5.7", "Bits  5.8 → 5.7".
std::vector<std::string> fact_lines(const Fact& fact);

// Number of bars that fit.
std::size_t bars_in(const Page& page, const Box& bars);

inline constexpr double kBarsTitle = 1.7;    // em above the bars
inline constexpr double kMinBarsHeight = 3;  // em, including the title

}  // namespace attnscope
