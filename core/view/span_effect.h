// What a span would do to attention, in numbers.
#pragma once

#include "core/view/view.h"

namespace attnscope {

// The attention of one head with this span in place of its normaliser's own, by the kernels.
// The part has q and k (or whatever scores it) and a softmax.  [L_q, L_k]
Tensor attention_with_span(const Part& part, Index head, double z, double ramp, double most);

// The mean over queries of the weight that a span leaves of their attention: 1 where the head
// looks no farther anyway.
double share_kept(const AttentionTap& tap, Index head, double z, double ramp);

// z of a head: of a dynamic span the mean over queries, or of one query where that is not -1.
double span_of_head(const Part& part, Index head, Index query);

}  // namespace attnscope
