// Effect of a span on attention.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// Span of a head: parameters of the mask m_z.
struct HeadSpan {
  Tensor z;  // [1], or [1, L_q] if dynamic
  double ramp = 1, most = 0;
  double at(Index query) const;  // z of a query
  double mean() const;           // z, or its mean over queries
};
HeadSpan fixed_span(double z, double ramp, double most);
HeadSpan own_span(const Part& part, Index head);  // of a part with spans

// Attention of one head by its scores only, without its span.  [L_q, L_k]
Tensor attention_without_span(const AttentionTap& tap, Index head);
// The same with this span, by the kernels. Requires a softmax.  [L_q, L_k]
Tensor attention_with_span(const AttentionTap& tap, Index head, const HeadSpan& span);

// Mean over queries of the head's weight by distance without a span: [L_k]. Negative distances
// count as 0, larger ones as the largest.
Tensor weight_by_distance(const AttentionTap& tap, Index head);
// Share of that weight within a span (z constant): 1 if the head attends no farther anyway.
double share_kept(const Tensor& by_distance, const HeadSpan& span);
// The same for dynamic spans.
double share_kept(const AttentionTap& tap, Index head, const HeadSpan& span);

}  // namespace attnscope
