// Strips of cells, one per token, coloured by kind: bucket, cluster or block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Colours of integer kinds. Only the most frequent kinds get distinct colours.
class KindColours {
 public:
  explicit KindColours(const Tensor& kinds);
  // Kinds in `first` take precedence over those that are only in `second`.
  KindColours(const Tensor& first, const Tensor& second);
  Colour operator()(Index kind) const;
  // Values for a categorical heat map; NaN remains.
  Tensor categories(const Tensor& kinds) const;

 private:
  void add(const Tensor& kinds);
  Index rank(Index kind) const;
  std::map<Index, Index> ranks_;  // rank of each kind; 0: most frequent
};

struct TokenStrip {
  TokenAxis tokens;                // drawn above the cells if it has labels
  std::vector<std::string> names;  // names of the rows, on the left
  Tensor kinds;                    // [rows, tokens], integers; NaN: an empty cell
  KindColours colours;
  Box cells{};       // empty if the strip does not fit
  double depth = 0;  // height of the labels above
  double bottom() const { return cells.bottom(); }
  double row_height() const { return cells.height / static_cast<double>(kinds.dim(0)); }
  double centre(Index token) const;  // x coordinate
  Index at(Point p) const;           // token at a point; -1 if there is none
};

// Places the strip at the top left of the box, as wide as the box and as high as needed.
TokenStrip place_strip(const Page& page, const Box& box, TokenAxis tokens,
                       std::vector<std::string> names, Tensor kinds, const KindColours& colours);
// Width of the names left of the cells.
double strip_left(const Page& page, const std::vector<std::string>& names);

// Draws the strip, with numbers in cells that have space; `marked`: outlined token, -1: none.
void draw_strip(Page& page, const TokenStrip& strip, Index marked);

}  // namespace attnscope
