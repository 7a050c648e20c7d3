// Pairs that the attention pattern does not allow, drawn differently from weights of zero.
#pragma once

#include "core/view/parts/colour_bar.h"

namespace attnscope {

Colour excluded_colour(const Theme& theme);

// True if the pattern or mask excludes any pair of this head.
bool has_excluded_pairs(const AttentionTap& tap, Index head);

// Sets the values of `cells` to the index of the rule that admits each pair, NaN for excluded
// pairs. Box and visible region (in pairs) must be set; very many pairs are merged into blocks.
void set_rules(HeatMap& cells, const ViewInput& input, const AttentionTap& tap, Index head);

// Covers the excluded pairs of a map that has been drawn with the box and visible region (in pairs)
// of `cells`. Returns true if any pair of the map, visible or not, is excluded.
bool cover_excluded(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head);
// cover_excluded() for `weights` [L_q, L_k] aggregated over heads with different patterns: pairs
// with nonzero weight count as allowed.
bool cover_excluded(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head,
                    const Tensor& weights);

// Covers the excluded pairs of many maps. Maps with equal patterns share their numbers.
class ExcludedPairs {
 public:
  // As cover_excluded().
  bool cover(Page& page, const HeatMap& cells, const AttentionTap& tap, Index head);

 private:
  struct Covered {
    const AttentionTap* tap;
    Index head;
    HeatMap cells, rules;
  };
  std::vector<Covered> covered_;  // one per pattern and visible region
};

// Draws a labelled swatch below a colour bar that starts at `bar_x`, if it fits the page.
void draw_excluded_legend(Page& page, double bar_x, double y);

}  // namespace attnscope
