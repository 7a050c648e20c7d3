// A span as a curve over distances, and what it is or does for each head as bars.
#pragma once

#include <functional>
#include <string>

#include "core/view/parts/chart.h"
#include "core/view/span/span_effect.h"

namespace attnscope {

// The span that is shown, and where it comes from.
struct ShownSpan {
  double z = 0, ramp = 1;  // of a dynamic span the mean
  HeadSpan span;           // the same, z for each query
  bool learned = false;    // the heads have spans of their own
  bool trained = false;    // ... which the model was trained with
  bool as_trained = true;  // ... with the ramp and the largest span of that training
  bool changed = false;    // the view's settings stand in place of those
  bool own() const { return learned && !changed; }
};

// What was worked out before of this run, where nothing that it depends on has changed.
Tensor kept_for_run(const ViewInput& input, const AttentionTap& tap, const std::string& name,
                    const std::function<Tensor()>& make);
// The same of this span.
Tensor kept_for(const ViewInput& input, const AttentionTap& tap, const std::string& name,
                const ShownSpan& s, const std::function<Tensor()>& make);

// The share of the head's weight that the span leaves, of what it would attend to without one.
double share_kept(const ViewInput& input, const AttentionTap& tap, Index head, const ShownSpan& s);

// The head's where the span is its own.
Colour span_colour(const Theme& theme, const AttentionTap& tap, Index head, const ShownSpan& s);
// The mask by distance, up to `far`, with knobs at its corners, and the masks of the other heads
// that have some. An empty chart: no space.
Chart draw_span_masks(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const ShownSpan& s, double far);
// For each head of each layer its own span, in the frame of the largest that it could be and with
// where the text ends, or what the shown one keeps of its weight. A click chooses the head.
void draw_span_bars(Page& page, const Box& box, const ViewInput& input, const AttentionTap& tap,
                    const ShownSpan& s, std::vector<Handle>& handles);

// Whether each query has a span of its own.
bool is_dynamic(const ShownSpan& s);
// Of dynamic spans: z over the text, of the shown head and, behind it, of the group's others;
// `marked`: a query that is pointed at, or -1.
void draw_span_course(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const ShownSpan& s, Index marked);
// The colour of a z, from the shortest to the longest of the shown head.
Colour colour_of_span(const ShownSpan& s, double z);

// The numbers of both: m_z by distance, of the shown span and of the heads' own; z, R and the share
// of weight kept, a row for each head (NaN where a head has no span of its own); of dynamic spans z
// by head and token.
std::vector<ViewData::Matrix> span_numbers(const ViewInput& input, const AttentionTap& tap,
                                           const ShownSpan& s, Index far);

}  // namespace attnscope
