// Lines of cells, one per token, coloured by the admitting rule, with labelled brackets per rule.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Token labels above equally wide columns of cells.
struct TokenColumns {
  TokenAxis tokens;
  double left = 0, width = 0;  // of the cells
  double top = 0, depth = 0;   // of the labels
  double bottom() const { return top + depth; }
  double cell() const { return width / static_cast<double>(tokens.count()); }
  double centre(Index token) const { return left + (static_cast<double>(token) + 0.5) * cell(); }
  Index at(double x) const;  // token at x; -1: outside
};
// Places columns from the top left of `box`; `most`: limit of the labels.
TokenColumns place_columns(const Page& page, const Box& box, TokenAxis tokens, double most);
void draw_columns(Page& page, const TokenColumns& columns, Index marked);

// Axis with indices only, if the labels appear above already and space is short.
TokenAxis numbered(TokenAxis axis);

// Box of a row of cells below the labels.
Box cells_at(const TokenColumns& columns, double y, double height);
// Draws the rule of each token; -1: excluded.
void draw_rule_cells(Page& page, const Box& cells, const std::vector<int>& rules);
// Outlines the cell of one token.
void outline_cell(Page& page, const TokenColumns& columns, const Box& cells, Index token,
                  Colour colour);

// Lanes below such a row, one per named rule, with brackets over the admitted tokens and the rule's
// name.
double lane_height(const Page& page);
void draw_lanes(Page& page, const TokenColumns& columns, double y, const std::vector<int>& rules,
                const std::vector<std::pair<int, std::string>>& lanes);

}  // namespace attnscope
