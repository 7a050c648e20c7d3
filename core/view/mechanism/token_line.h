// Numbers of each token as rows of coloured cells below the text, one token chosen among them.
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
  double left = 0, top = 0;  // depth of the names, and of the labels above
  double bottom() const { return cells.bottom(); }
};

// From the box's top, as wide as it; the names and the ends of the rows stand beside the cells.
TokenLine place_token_line(const Page& page, const Box& box, TokenAxis tokens,
                           std::vector<TokenRow> rows);
void draw_token_line(Page& page, const TokenLine& line, Index chosen);
// The pair of a token with itself at a point of the line. Kept after the page is gone.
std::function<std::optional<Pair>(Point)> token_at(const TokenLine& line);

// The token that such a picture is about: the one that the view is set to, else the pinned query,
// else the last.
Index chosen_token(const MechanismOf& of);

}  // namespace attnscope
