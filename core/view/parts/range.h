// Which numbers the colours of attention maps stand for.
#pragma once

#include <limits>
#include <vector>

#include "core/view/parts/colour_bar.h"

namespace attnscope {

// Whole cells, [first, last), that are at least partly in sight of `count`.
struct Extent {
  Index first = 0, last = 0;
  Index count() const { return last - first; }
};
Extent extent_in_sight(double first, double size, Index count);

// The numbers that a heat map shows.
struct ShownCells {
  Tensor values;              // of each cell; undefined where they lie on a device
  Index row = 0, column = 0;  // the pair that the first cell begins with
  Index step = 1;             // pairs a cell along each axis
  double exact = 1;           // share that is: the rest is a preview
};

// Lets a heat map, whose box and visible part are set, show this head: what was kept (where the
// numbers lie on a device, from there), or what is in sight of a map that was not, at the
// resolution of the screen.
ShownCells set_cells(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head);

// "map 40 % exact" for a layout's `pending`; empty where all is.
std::string pending_text(double exact);

// Whether a softmax made the weights, so that none is negative.
bool is_normalised(const AttentionTap& tap);

// Whether weights can be negative (a signed matrix in place of a softmax).
bool is_signed(const AttentionTap& tap, Index head);

// The colours for weights, from 0 to 1 or from -1 to 1: the settings' map, but a diverging one
// where there are signs.
ColourRange weight_colours(const ViewInput& input, bool with_signs);

// The magnitudes that tell where colours end: of the pairs in sight those that the pattern allows,
// in rows that see more than one key (else the weight is 1 whatever the head does); of every n-th
// row where that means more than about `most` of them.
// `cells`: weights set by set_cells(), which gave `seen`, or all of a map's.
std::vector<float> sizes_in_sight(const HeatMap& cells, const AttentionTap& tap, Index head,
                                  const ShownCells& seen = {}, Index most = Index{1} << 18);

// Lets colours end where the settings say, among numbers of these magnitudes; with signs never at
// 1, and alike to both sides of zero.
void set_end(ColourRange& range, std::vector<float> sizes, ColourEnd end, bool with_signs);

// The colours for the weights in sight, with both.
ColourRange colour_range(const ViewInput& input, const HeatMap& cells, const AttentionTap& tap,
                         Index head, bool with_signs, const ShownCells& seen = {});

// The largest magnitude of each row among the visible cells, rising; of every n-th row where that
// means more than `most` cells.
std::vector<float> visible_row_maxima(const HeatMap& cells,
                                      Index most = std::numeric_limits<Index>::max());
// The largest magnitude among the visible cells; 0 when there are none.
double largest_visible(const HeatMap& cells);

}  // namespace attnscope
