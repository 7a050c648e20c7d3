// The tokens of a text as a line of cells, coloured by the rule that admits them, with brackets
// that say each rule.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Tokens along the top of what is drawn below them, in cells of equal width.
struct TokenColumns {
  TokenAxis tokens;
  double left = 0, width = 0;  // of the cells
  double top = 0, depth = 0;   // where the labels begin, and how high they are
  double bottom() const { return top + depth; }
  double cell() const { return width / static_cast<double>(tokens.count()); }
  double centre(Index token) const { return left + (static_cast<double>(token) + 0.5) * cell(); }
  Index at(double x) const;  // -1: beside the cells
};
// From the top left of `box`; `most`: for the labels.
TokenColumns place_columns(const Page& page, const Box& box, TokenAxis tokens, double most);
void draw_columns(Page& page, const TokenColumns& columns, Index marked);

// An axis by places alone, where the tokens' names stand above already and space is short.
TokenAxis numbered(TokenAxis axis);

// Where a row of cells goes below the labels.
Box cells_at(const TokenColumns& columns, double y, double height);
// The rule of each token, -1: none admits it.
void draw_rule_cells(Page& page, const Box& cells, const std::vector<int>& rules);
// Around the cell of one token.
void outline_cell(Page& page, const TokenColumns& columns, const Box& cells, Index token,
                  Colour colour);

// Below such a row, a lane for each rule that has a name: what it admits, bracketed, and its name
// beside that.
double lane_height(const Page& page);
void draw_lanes(Page& page, const TokenColumns& columns, double y, const std::vector<int>& rules,
                const std::vector<std::pair<int, std::string>>& lanes);

}  // namespace attnscope
