// Charts of the Span view: the span as a mask by distance, and bars by head.
#pragma once

#include <functional>
#include <string>

#include "core/view/parts/chart.h"
#include "core/view/span/span_effect.h"

namespace attnscope {

// The shown span and its origin.
struct ShownSpan {
  double z = 0, ramp = 1;  // mean for dynamic spans
  HeadSpan span;           // the same with z by query
  bool learned = false;    // the heads have learned spans
  bool trained = false;    // the learned spans are those of the checkpoint
  bool as_trained = true;  // so are ramp and maximum span
  bool changed = false;    // the view's settings override the span
  bool is_model_span() const { return learned && !changed; }
};

// Result of `make`, cached for the run.
Tensor cached_for_run(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                      const std::function<Tensor()>& make);
// Result of `make`, cached for the run and the span.
Tensor cached_for_span(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                       const ShownSpan& s, const std::function<Tensor()>& make);

// Share of the head's weight that remains within the span.
double share_kept(const ViewInput& input, const AttentionTap& tap, Index head, const ShownSpan& s);

// Colour of the head for a span of the model, else the accent colour.
Colour span_colour(const Theme& theme, const AttentionTap& tap, Index head, const ShownSpan& s);
// Draws the mask by distance up to `reach` with draggable corners, and the masks of other heads.
// Returns an empty chart if there is no space.
Chart draw_span_masks(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const ShownSpan& s, double reach);
// Draws a bar for each head of each layer: its span within the maximum and the text length, or the
// share of its weight within the shown span. A click selects the head.
void draw_span_bars(Page& page, const Box& box, const ViewInput& input, const AttentionTap& tap,
                    const ShownSpan& s, std::vector<Handle>& handles);

// True if each query has its own span.
bool is_dynamic(const ShownSpan& s);
// Draws dynamic spans by token: those of the shown head, and behind it those of its group.
// `marked`: hovered query, or -1.
void draw_span_course(Page& page, const Box& box, const AttentionTap& tap, Index head,
                      const ShownSpan& s, Index marked);
// Colour of a z, from the shortest to the longest of the shown head.
Colour colour_of_span(const ShownSpan& s, double z);

// Exported numbers: m_z by distance of the shown and the heads' spans; z, R and share of weight by
// head (NaN for heads without span); for dynamic spans z by head and token.
std::vector<ViewData::Matrix> span_numbers(const ViewInput& input, const AttentionTap& tap,
                                           const ShownSpan& s, Index reach);

}  // namespace attnscope
