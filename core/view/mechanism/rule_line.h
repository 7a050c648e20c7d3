// Rows of cells, one per token, coloured by the rule that admits the token, and brackets with the
// names of the rules.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Token labels above equally wide columns of cells.
struct TokenColumns {
  TokenAxis tokens;
  double left = 0, width = 0;  // left edge and width of the cells
  double top = 0, depth = 0;   // upper edge and depth of the labels
  double bottom() const { return top + depth; }
  double cell() const { return width / static_cast<double>(tokens.count()); }
  double centre(Index token) const { return left + (static_cast<double>(token) + 0.5) * cell(); }
  Index at(double x) const;  // token at x; -1 outside
};
// Places columns at the top left of `box`. `max_depth`: maximum label depth.
TokenColumns place_columns(const Page& page, const Box& box, TokenAxis tokens, double max_depth);
void draw_columns(Page& page, const TokenColumns& columns, Index marked);

// Replaces labels by indices, for narrow axes whose labels are drawn elsewhere.
TokenAxis with_index_labels(TokenAxis axis);

// Box of a row of cells below the labels.
Box cells_at(const TokenColumns& columns, double y, double height);
// Draws a cell for each token in the colour of its rule; -1: excluded.
void draw_rule_cells(Page& page, const Box& cells, const std::vector<int>& rules);
void outline_cell(Page& page, const TokenColumns& columns, const Box& cells, Index token,
                  Colour colour);

// Lanes below a row of cells: for each rule, its name and brackets under the tokens that it admits.
double lane_height(const Page& page);
void draw_lanes(Page& page, const TokenColumns& columns, double y, const std::vector<int>& rules,
                const std::vector<std::pair<int, std::string>>& lanes);

}  // namespace attnscope
