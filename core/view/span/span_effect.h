// Effect of a span on attention.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// Span of a head: parameters of the mask m_z.
struct HeadSpan {
  Tensor z;                                         // [1], or [1, L_q] if dynamic
  double ramp = 1, max_span = 0;                    // distances beyond max_span are masked
  double at(Index query) const;                     // z of a query
  double mean() const;                              // z, or its mean over queries
  double mask(Index query, double distance) const;  // m_z, in [0, 1]
};
HeadSpan fixed_span(double z, double ramp, double max_span);
HeadSpan head_span(const PartRules& part, Index head);  // `part` must have spans

// Attention of a head without its span: the softmax of its scores.  [L_q, L_k]
Tensor attention_without_span(const AttentionTap& tap, Index head);
// Attention with this span, computed by the CPU kernels. Requires a softmax.  [L_q, L_k]
Tensor attention_with_span(const AttentionTap& tap, Index head, const HeadSpan& span);

// Weight of a head without its span, by distance in [0, L_k - 1], averaged over queries.  [L_k]
Tensor weight_by_distance(const AttentionTap& tap, Index head);
// Fraction of weight_by_distance() that remains within a span with constant z.
double kept_fraction(const Tensor& by_distance, const HeadSpan& span);
// Fraction of a head's weight that remains within a dynamic span.
double kept_fraction(const AttentionTap& tap, Index head, const HeadSpan& span);

}  // namespace attnscope
