// Rows of coloured cells below the tokens, with a number per token; one token is highlighted.
#pragma once

#include <string>
#include <vector>

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

struct TokenRow {
  std::string name;
  Tensor numbers;  // [L]; NaN: no number
  ColourRange range;
};

struct TokenLine {
  TokenAxis tokens;
  std::vector<TokenRow> rows;
  Box cells{};
  double left = 0, top = 0;  // width of row names, height of token labels
  double bottom() const { return cells.bottom(); }
};

// Places the line at the top of the box, with row names left and ranges right of the cells.
TokenLine place_token_line(const Page& page, const Box& box, TokenAxis tokens,
                           std::vector<TokenRow> rows);
void draw_token_line(Page& page, const TokenLine& line, Index marked);
// Hit test for tokens; returns the pair of a token with itself. The function may outlive the page.
std::function<std::optional<Pair>(Point)> token_hit_test(const TokenLine& line);

// The illustrated token: the view's parameter, else the pinned query, else the last token.
Index illustrated_token(const HeadInput& in);

}  // namespace attnscope
