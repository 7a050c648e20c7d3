// What a span would do to attention, in numbers.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// How far a head looks: m_z of each distance up to `most`.
struct HeadSpan {
  Tensor z;  // [1], or [1, L_q]: each query has its own
  double ramp = 1, most = 0;
  double at(Index query) const;  // z of a query
  double mean() const;           // z, of a dynamic span the mean over queries
};
HeadSpan fixed_span(double z, double ramp, double most);
HeadSpan own_span(const Part& part, Index head);  // of a part with spans

// The attention of one head by its scores alone: a span of its own does not hold.  [L_q, L_k]
Tensor attention_without_span(const AttentionTap& tap, Index head);
// The same with this span, by the kernels. The tap's part has a softmax.  [L_q, L_k]
Tensor attention_with_span(const AttentionTap& tap, Index head, const HeadSpan& span);

// The mean over queries of the weight that the head, without a span, gives to keys at each
// distance: [L_k]. Nearer than 0 counts as 0, farther as the farthest.
Tensor weight_by_distance(const AttentionTap& tap, Index head);
// What a span leaves of that: 1 where the head looks no farther anyway. z is the same everywhere.
double share_kept(const Tensor& by_distance, const HeadSpan& span);
// The same where z may differ between queries.
double share_kept(const AttentionTap& tap, Index head, const HeadSpan& span);

}  // namespace attnscope
