// Rows of coloured cells with numbers of each token, below the text; one token is selected.
#pragma once

#include <string>
#include <vector>

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

struct TokenRow {
  std::string name;
  Tensor numbers;  // [L]; NaN: none
  ColourRange range;
};

struct TokenLine {
  TokenAxis tokens;
  std::vector<TokenRow> rows;
  Box cells{};
  double left = 0, top = 0;  // depth of row names and token labels
  double bottom() const { return cells.bottom(); }
};

// Places the line at the box's top, in its full width; row names and ranges are next to the cells.
TokenLine place_token_line(const Page& page, const Box& box, TokenAxis tokens,
                           std::vector<TokenRow> rows);
void draw_token_line(Page& page, const TokenLine& line, Index chosen);
// Hit test that returns a token paired with itself. May outlive the page.
std::function<std::optional<Pair>(Point)> token_at(const TokenLine& line);

// The illustrated token: the view's parameter, else the pinned query, else the last.
Index chosen_token(const MechanismOf& of);

}  // namespace attnscope
