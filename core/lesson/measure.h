// What the measures share.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "core/lesson/claim.h"

namespace attnscope {

// The tap of the claim's head, and where in it the head is; its attention.  [L_q, L_k]
// InputError where the run has no such head.
const AttentionTap& tap_of(const Trace& trace, const Claim& claim, Index* head_in_group = nullptr);
Tensor weights_of(const Trace& trace, const Claim& claim);

// InputError unless 0 <= index < count.
void need(Index index, Index count, const char* what);

// What `of` says about every pair, the largest of it.
template <class Of>
double largest(const Shape& shape, const Of& of) {
  double most = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < shape[0]; ++i) {
    for (Index c = 0; c < shape[1]; ++c) most = std::max(most, of(i, c));
  }
  return most;
}

// By subject; measures() has them all.
std::vector<Measure> map_measures();
std::vector<Measure> pattern_measures();
std::vector<Measure> position_measures();
std::vector<Measure> prediction_measures();

}  // namespace attnscope
