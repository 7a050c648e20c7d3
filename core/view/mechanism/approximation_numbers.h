// Difference of a method's implied weights from a softmax over the same queries and keys.
#pragma once

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// Slots or features, into which a method transforms keys before it compares them with queries.
struct Mix {
  Tensor values;           // [k, L]: a row per slot or feature; undefined if unknown
  bool has_slots = false;  // true: rows are weights that average keys into slots
};

struct Approximation {
  Tensor exact;    // [L_q, L]: softmax weights, reported by the variant or computed here
  Tensor implied;  // [L_q, L]: effective weights of the method
  // [L_q]: KL(exact, implied) of each row, in bits; undefined if weights are negative.
  Tensor divergence;
  Mix mix;
  TokenAxis queries, keys;
};

bool shows_approximation(const AttentionTap& tap);
Approximation approximation_of(const HeadInput& in);
bool has_negative(const Tensor& numbers);

}  // namespace attnscope
