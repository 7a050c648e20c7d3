// What stands beside or below the maps of the view of interventions: switches, the next token, how
// well tokens are foreseen.
#pragma once

#include <string>
#include <vector>

#include "core/view/intervene/switch_board.h"
#include "core/view/parts/fact_table.h"

namespace attnscope {

inline constexpr std::size_t kTokens = 8;  // bars, at most
inline constexpr std::size_t kLeastTokens = 4;

struct OtherContent {
  const Trace& trace;
  const std::vector<Fact>& facts;
  bool foresees;  // whether there is a next token to show
};

// Where they go; no size: no space.
struct OtherParts {
  BoardSize board;
  Point board_at;
  Box bars, facts;
  double bottom = 0;                 // where all of it ends
  std::vector<std::string> missing;  // the names of those that have no space
};

// One below the other.
OtherParts place_column(const Page& page, const Box& box, const OtherContent& content);
// Beside each other, no higher than they get of use; facts below the bars where those leave space.
OtherParts place_row(const Page& page, const Box& box, const OtherContent& content);
void move_down(OtherParts& parts, double by);

// Facts are a table, or where that is too wide, a line each.
inline constexpr double kFactLine = 1.35;  // em
bool facts_in_table(const Page& page, const std::vector<Fact>& facts, double width);
// Such a line, from the longest on: "Bits per token  5.8 → 5.7", "Bits  5.8 → 5.7".
std::vector<std::string> fact_lines(const Fact& fact);

// Of the bars, how many fit.
std::size_t bars_in(const Page& page, const Box& bars);

inline constexpr double kBarsTitle = 1.7;      // em above the bars
inline constexpr double kLeastBarsHeight = 3;  // em, with it

}  // namespace attnscope
