// Pairs that a pattern does not allow, which is something else than a weight of zero.
#pragma once

#include "core/view/parts/colour_bar.h"

namespace attnscope {

Colour not_allowed_colour(const Theme& theme);

// Whether there are any for this head.
bool has_not_allowed(const AttentionTap& tap, Index head);

// Gives a heat map, whose box and visible part are set in pairs, the number of the rule that admits
// each pair, NaN where none does; in blocks where there are very many pairs.
void set_rules(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head);

// Covers the pairs of a map that are not allowed, after it was drawn: `cells` has its box and the
// visible part in pairs. Returns whether there are any in the whole map, for the legend.
bool cover_not_allowed(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head);
// The same where `weights` [L_q, L_k] are of several heads together, which can have patterns of
// their own: what has a weight is allowed.
bool cover_not_allowed(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head,
                       const Tensor& weights);

// A swatch with its name below a colour bar that begins at `bar_x`; nothing where it does not fit
// before the page's edge.
void draw_not_allowed_key(Page& page, double bar_x, double y);

}  // namespace attnscope
