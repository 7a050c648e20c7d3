// Pairs drawn by the Lines view, in both styles.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/focus.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct WeightedPair {
  Index head = 0;  // numbered within the layer
  Index query = 0, key = 0;
  double weight = 0;  // magnitude relative to the largest possible one
};

struct LineSet {
  std::vector<Index> heads;         // shown, ascending
  std::vector<Index> all_heads;     // available
  std::vector<WeightedPair> pairs;  // weakest first
  Index left_out = 0;               // pairs above the threshold that exceed the limit of lines
  double largest = 1;               // weight at relative magnitude 1
};

// The visible cells of one side: [first, first + extent).
struct CellSpan {
  double first = 0, extent = 0;
  bool holds(Index i) const {
    return static_cast<double>(i) + 1 > first && static_cast<double>(i) < first + extent;
  }
};
// The requested span, limited to `count`; everything if nothing is requested.
CellSpan visible_span(double first, double extent, Index count);

// Pairs with a weight of at least `least` and an end in sight.
LineSet line_set(const ViewInput& input, const AttentionTap& tap, const Values& values,
                 const CellSpan& queries, const CellSpan& keys);

// Colour of a pair. `in_focus`: false if other pairs are hovered or pinned, which makes it faint.
Colour line_colour(const Page& page, const WeightedPair& pair, bool in_focus);
// `cell`: pixels of a token, which limits the width.
double line_thickness(const Page& page, const WeightedPair& pair, double cell);

// A hovered or pinned query, key or both; -1: any.
struct LineFocus {
  Index query = -1, key = -1;
  Index head = -1;  // of a hovered curve; -1: any
  bool any() const { return query >= 0 || key >= 0; }
  bool holds(const WeightedPair& pair) const {
    return (query < 0 || pair.query == query) && (key < 0 || pair.key == key) &&
           (head < 0 || pair.head == head);
  }
};
// Reason for visible tokens without a line: "116 of 256 queries have no line: ..."; empty: all have
// one.
std::string missing_lines(const LineSet& set, const CellSpan& rows, double least,
                          const std::string& line);
LineFocus pinned_focus(const ViewInput& input, const AttentionTap& tap);

// Draws a legend of heads; clicks toggle them. Returns its height; appends its handles to
// `handles`.
double draw_heads(Page& page, const LineSet& set, const Box& box, std::vector<Handle>& handles);
double heads_height(const Page& page, const LineSet& set, double width);

// Pins the clicked token, or unpins it.
void toggle_pinned_query(Session& session, Index query);
void toggle_pinned_key(Session& session, Index key);

}  // namespace attnscope
