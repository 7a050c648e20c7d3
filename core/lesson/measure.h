// Functions shared by the measures.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/lesson/claim.h"

namespace attnscope {

// Part of the trace that the claim's view shows; the claim's layer and head are indices in it.
TracePart part_of(const Trace& trace, const Claim& claim);

// Tap that contains the claim's head (`head_in_group`: its index in the tap), and the head's
// attention weights [L_q, L_k]. Both throw InputError if the run lacks the head.
const AttentionTap& tap_of(const Trace& trace, const Claim& claim, Index* head_in_group = nullptr);
Tensor weights_of(const Trace& trace, const Claim& claim);

// Throws InputError unless 0 <= index < count.
void check_index(Index index, Index count, const char* what);

// Largest value_at(row, column) within `shape`; NaN if any value is NaN, so that no claim holds.
template <class Value>
double largest(const Shape& shape, const Value& value_at) {
  double maximum = -std::numeric_limits<double>::infinity();
  for (Index i = 0; i < shape[0]; ++i) {
    for (Index c = 0; c < shape[1]; ++c) {
      const double value = value_at(i, c);
      if (std::isnan(value)) return value;
      maximum = std::max(maximum, value);
    }
  }
  return maximum;
}

// Measures by subject; measures() lists all.
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
