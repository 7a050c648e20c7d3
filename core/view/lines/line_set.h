// Pairs drawn by the Lines view, in both styles.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/focus.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct WeightedPair {
  Index head = 0;  // index within the layer
  Index query = 0, key = 0;
  double weight = 0;  // magnitude relative to LineSet::largest
};

struct LineSet {
  std::vector<Index> heads;         // heads whose pairs are drawn, ascending
  std::vector<Index> all_heads;     // heads of the layer that can be drawn, ascending
  std::vector<WeightedPair> pairs;  // weakest first
  Index omitted_count = 0;  // number of pairs above the threshold that exceed the line limit
  double largest = 1;       // largest weight, at least 1
};

// Visible range of the queries or of the keys, in cells: [first, first + extent).
struct CellSpan {
  double first = 0, extent = 0;
  bool contains(Index i) const {
    return static_cast<double>(i) + 1 > first && static_cast<double>(i) < first + extent;
  }
};
// The requested span within an axis of `count` cells; all cells if `extent` is 0.
CellSpan visible_span(double first, double extent, Index count);

// Pairs whose weight is at least the parameter `least` and whose query or key is visible.
LineSet line_set(const ViewInput& input, const AttentionTap& tap, const Values& values,
                 const CellSpan& queries, const CellSpan& keys);

// Colour of a pair's line; faint unless `in_focus` (false if other pairs are hovered or pinned).
Colour line_colour(const Page& page, const WeightedPair& pair, bool in_focus);
// Thickness of a pair's line in pixels, limited by `cell`, the size of a token.
double line_thickness(const Page& page, const WeightedPair& pair, double cell);

// The hovered or pinned query, key or pair; an index of -1 matches any.
struct LineFocus {
  Index query = -1, key = -1;
  Index head = -1;  // head of a hovered curve
  bool is_set() const { return query >= 0 || key >= 0; }
  bool matches(const WeightedPair& pair) const {
    return (query < 0 || pair.query == query) && (key < 0 || pair.key == key) &&
           (head < 0 || pair.head == head);
  }
};
// Explains visible queries without a line ("116 of 256 queries have no line: ..."); empty if each
// query has a line. `noun`: "line" or "arc".
std::string explain_missing_lines(const LineSet& set, const CellSpan& rows, double min_weight,
                                  const std::string& noun);
LineFocus pinned_focus(const ViewInput& input, const AttentionTap& tap);

// Draws a legend of heads and appends its handles, which toggle heads. Returns its height.
double draw_head_legend(Page& page, const LineSet& set, const Box& box,
                        std::vector<Handle>& handles);
double head_legend_height(const Page& page, const LineSet& set, double width);

// Unpins the token if it alone is pinned; otherwise pins it alone.
void toggle_pinned_query(Session& session, Index query);
void toggle_pinned_key(Session& session, Index key);

}  // namespace attnscope
