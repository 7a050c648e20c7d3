// Charts of the Span view: the span as a mask by distance, and values by head.
#pragma once

#include <functional>
#include <string>

#include "core/view/parts/chart.h"
#include "core/view/span/span_effect.h"

namespace attnscope {

// The span that the view shows, and its origin.
struct SpanState {
  double z = 0, ramp = 1;         // z: mean over queries if the span is dynamic
  HeadSpan span;                  // the span, with z of each query if dynamic
  bool is_learned = false;        // the heads have learned spans
  bool is_trained = false;        // the learned spans come from the checkpoint
  bool has_trained_reach = true;  // ramp and maximum span equal the checkpoint's
  bool is_changed = false;        // the view's settings override the span
  bool is_model_span() const { return is_learned && !is_changed; }
};

// Result of `make`, cached for the run.
Tensor cached_for_run(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                      const std::function<Tensor()>& make);
// Result of `make`, cached for the run and the span.
Tensor cached_for_span(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                       const SpanState& state, const std::function<Tensor()>& make);

// Fraction of the head's weight that remains within the span.
double kept_fraction(const ViewInput& input, const AttentionTap& tap, Index head,
                     const SpanState& state);

// The head's colour if the shown span is the model's, else the accent colour.
Colour span_colour(const Theme& theme, const AttentionTap& tap, Index head, const SpanState& state);
// Draws the mask by distance up to `reach` with draggable corners, and the masks of other heads.
// Returns an empty chart if there is no space.
Chart draw_span_masks(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const SpanState& state, double reach);
// Draws a bar for each head of each layer, or a map of all heads if the bars would be too narrow:
// the head's span, or the fraction of its weight within the shown span. A click selects the head.
void draw_span_heads(Page& page, const Box& box, const ViewInput& input, const AttentionTap& tap,
                     const SpanState& state, std::vector<Handle>& handles);

// True if each query has its own span.
bool is_dynamic(const SpanState& state);
// Draws dynamic spans by token. The selected head's curve is in front of its group's curves.
// `marked_query`: the hovered or pinned query; -1: none.
void draw_span_course(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const SpanState& state, Index marked_query);
// Colour of z on a scale from the shortest to the longest span of the shown head.
Colour colour_of_span(const SpanState& state, double z);

// Exported tables: first m_z by distance, for the shown span and each learned span; second z, R and
// remaining weight by head, NaN without a span. Dynamic spans add a table of z by head and token.
std::vector<ViewData::Matrix> span_numbers(const ViewInput& input, const AttentionTap& tap,
                                           const SpanState& state, Index reach);

}  // namespace attnscope
