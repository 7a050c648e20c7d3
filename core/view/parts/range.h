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

// 0..1, or with `normalise` 0 to the largest of the cells in sight; for signed weights the same to
// both sides of zero, in a diverging colour map.
// `given`: whoever asks sets the largest number; none is looked for.
ColourRange colour_range(const ViewInput& input, const HeatMap& cells, bool with_signs,
                         bool given = false);

// The largest magnitude of each row among the visible cells, rising; of every n-th row where that
// means more than `most` cells.
std::vector<float> visible_row_maxima(const HeatMap& cells,
                                      Index most = std::numeric_limits<Index>::max());
// The largest magnitude among the visible cells; 0 when there are none.
double largest_visible(const HeatMap& cells);

}  // namespace attnscope
