// Which pairs the Lines view joins, for both of its styles.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/focus.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct WeightedPair {
  Index head = 0;  // numbered within the layer
  Index query = 0, key = 0;
  double weight = 0;  // magnitude, as a share of the largest that there can be
};

struct LineSet {
  std::vector<Index> heads;         // that are shown, rising
  std::vector<Index> all_heads;     // that could be
  std::vector<WeightedPair> pairs;  // weakest first
  Index left_out = 0;               // pairs above the threshold beyond the strongest few thousand
  double largest = 1;               // the weight that a share of 1 stands for
};

// The visible cells of one side: [first, first + extent).
struct CellSpan {
  double first = 0, extent = 0;
  bool holds(Index i) const {
    return static_cast<double>(i) + 1 > first && static_cast<double>(i) < first + extent;
  }
};
// What the settings ask for, kept within `count`; all where they ask for nothing.
CellSpan visible_span(double first, double extent, Index count);

// Pairs with a weight of `least` or more, either of whose ends is in sight.
LineSet line_set(const ViewInput& input, const AttentionTap& tap, const Values& values,
                 const CellSpan& queries, const CellSpan& keys);

// How a pair of this weight is drawn. `in_focus`: false where others are pointed at or pinned, and
// then it is no more than a trace.
Colour line_colour(const Page& page, const WeightedPair& pair, bool in_focus);
// `cell`: pixels of a token, which a line is not to fill.
double line_thickness(const Page& page, const WeightedPair& pair, double cell);

// A query or key, or both, that are pointed at or pinned; -1: any.
struct LineFocus {
  Index query = -1, key = -1;
  Index head = -1;  // of a curve that is pointed at; -1: any
  bool any() const { return query >= 0 || key >= 0; }
  bool holds(const WeightedPair& pair) const {
    return (query < 0 || pair.query == query) && (key < 0 || pair.key == key) &&
           (head < 0 || pair.head == head);
  }
};
// Why tokens in sight have no line or arc: "116 of 256 queries have no line: ..."; empty: all have.
std::string missing_lines(const LineSet& set, const CellSpan& rows, double least,
                          const std::string& line);
LineFocus pinned_focus(const ViewInput& input, const AttentionTap& tap);

// Colours of heads, which a click shows or hides. Returns the height it takes; `handles` get what
// can be clicked.
double draw_heads(Page& page, const LineSet& set, const Box& box, std::vector<Handle>& handles);
double heads_height(const Page& page, const LineSet& set, double width);

// The pins of a click on a token: set, or taken away where it is there already.
void toggle_pinned_query(Experiment& experiment, Index query);
void toggle_pinned_key(Experiment& experiment, Index key);

}  // namespace attnscope
