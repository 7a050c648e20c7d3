// What the measures share.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/lesson/claim.h"

namespace attnscope {

// What the claim counts layers and heads of: what the step looks at.
TracePart part_of(const Trace& trace, const Claim& claim);

// The tap of the claim's head, and where in it the head is; its attention.  [L_q, L_k]
// InputError where the run has no such head.
const AttentionTap& tap_of(const Trace& trace, const Claim& claim, Index* head_in_group = nullptr);
Tensor weights_of(const Trace& trace, const Claim& claim);

// InputError unless 0 <= index < count.
void need(Index index, Index count, const char* what);

// What `of` says about every pair, the largest of it; NaN, which fails any claim, where it says so.
template <class Of>
double largest(const Shape& shape, const Of& of) {
  double most = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < shape[0]; ++i) {
    for (Index c = 0; c < shape[1]; ++c) {
      const double value = of(i, c);
      if (std::isnan(value)) return value;
      most = std::max(most, value);
    }
  }
  return most;
}

// By subject; measures() has them all.
std::vector<Measure> map_measures();
std::vector<Measure> pattern_measures();
std::vector<Measure> position_measures();
std::vector<Measure> prediction_measures();
std::vector<Measure> memory_measures();
std::vector<Measure> task_measures();
std::vector<Measure> depth_measures();
std::vector<Measure> vector_measures();
std::vector<Measure> flow_measures();

}  // namespace attnscope
