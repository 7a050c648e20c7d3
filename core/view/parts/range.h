// Value ranges of the colours of attention maps.
#pragma once

#include <limits>
#include <vector>

#include "core/view/parts/colour_bar.h"

namespace attnscope {

// Cells [first, last) of an axis that are at least partly visible.
struct Extent {
  Index first = 0, last = 0;
  Index count() const { return last - first; }
};
Extent visible_extent(double first, double size, Index count);

// Values of a heat map's cells, and the pairs that they belong to.
struct ShownCells {
  Tensor values;              // [rows, columns]; undefined if they reside on a device
  Index row = 0, column = 0;  // query and key of the first cell
  Index step = 1;             // pairs per cell along each axis
  double exact = 1;           // fraction of exact cells; the others are a preview
};

// Sets the values of a heat map to this head's weights: the stored map, which may stay on its
// device, or else the visible region computed at screen resolution. Box and visible region of
// `cells` must be set.
ShownCells set_cells(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head);

// "map 40% exact, the rest is a preview", for ViewLayout::pending; empty if everything is exact.
std::string pending_text(double exact);

// True if a softmax normalises the weights, so that none is negative.
bool is_normalised(const AttentionTap& tap);

// True if weights can be negative (a signed matrix replaces the softmax).
bool is_signed(const AttentionTap& tap, Index head);

// Colours for weights in [0, 1], or in [-1, 1] with a diverging map if `with_signs`.
ColourRange weight_colours(const ViewInput& input, bool with_signs);

// Magnitudes of visible allowed pairs, to determine the end of the colours. Omits rows with a
// single key (weight 1) unless all rows have a single key. Samples rows beyond about `limit` cells.
// `cells`: weights set by set_cells(), which returned `shown`, or the weights of a whole map.
std::vector<float> visible_magnitudes(const HeatMap& cells, const AttentionTap& tap, Index head,
                                      const ShownCells& shown = {}, Index limit = Index{1} << 18);

// Largest magnitude in the first visible rows with one key, which visible_magnitudes() omits; 0 if
// there are no such rows.
double largest_single_weight(const HeatMap& cells, const AttentionTap& tap, Index head,
                             const ShownCells& shown = {});

// Sets the end of the colours to `end` of these magnitudes; symmetric about zero if `with_signs`.
void set_range_end(ColourRange& range, std::vector<float> values, ColourEnd end, bool with_signs);

// Adjusts the range to the weight of rows with a single key, which do not determine its end: if the
// weight is slightly larger than the end, it becomes the end; if it is much larger, sets
// ColourRange::passed.
void include_single_weight(ColourRange& range, double weight);

// weight_colours() with the end that ViewSettings::colour_end selects for the visible weights. Rows
// with one key do not determine the end, see include_single_weight().
ColourRange colour_range(const ViewInput& input, const HeatMap& cells, const AttentionTap& tap,
                         Index head, bool with_signs, const ShownCells& shown = {});

// Largest visible magnitude of each row, ascending. If there are more than `limit` cells, samples
// the rows.
std::vector<float> visible_row_maxima(const HeatMap& cells,
                                      Index limit = std::numeric_limits<Index>::max());
// Largest visible magnitude; 0 if nothing is visible, 1 if it is not finite.
double largest_visible_magnitude(const HeatMap& cells);

}  // namespace attnscope
