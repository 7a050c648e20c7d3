// Tokens as a line of cells, coloured by what they belong to: a bucket, a cluster, a block.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/view/parts/token_axis.h"

namespace attnscope {

// Colours of whole numbers, of buckets and the like. There are few colours: the numbers that occur
// most are told apart.
class KindColours {
 public:
  explicit KindColours(const Tensor& kinds);
  // Those of the first before those that only the second has.
  KindColours(const Tensor& first, const Tensor& second);
  Colour operator()(Index kind) const;
  // What a categorical heat map takes; NaN stays.
  Tensor places(const Tensor& kinds) const;

 private:
  void add(const Tensor& kinds);
  Index place(Index kind) const;
  std::map<Index, Index> places_;  // by kind, 0: the most frequent one
};

struct TokenStrip {
  TokenAxis tokens;                // along the top; without labels: none are written
  std::vector<std::string> names;  // of the rows, to the left
  Tensor kinds;                    // [rows, tokens], whole numbers
  KindColours colours;
  Box cells{};       // empty: no space
  double depth = 0;  // of the labels above
  double bottom() const { return cells.bottom(); }
  double row_height() const { return cells.height / static_cast<double>(kinds.dim(0)); }
  double centre(Index token) const;  // across
  Index at(Point p) const;           // the token there, -1: none
};

// From the box's top left; its width is all that there is, of its height as much as it takes.
TokenStrip place_strip(const Page& page, const Box& box, TokenAxis tokens,
                       std::vector<std::string> names, Tensor kinds, const KindColours& colours);
// What the names take to the left of the cells.
double strip_left(const Page& page, const std::vector<std::string>& names);

// Numbers stand in the cells where there is space for them; `lit`: outlined, -1: none.
void draw_strip(Page& page, const TokenStrip& strip, Index lit);

}  // namespace attnscope
