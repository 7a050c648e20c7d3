// How far what a method makes of the weights is from a softmax over the same queries and keys, in
// numbers.
#pragma once

#include "core/view/mechanism/mechanism.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

// What keys become before queries meet them.
struct Mix {
  Tensor values;       // [k, L]: a row a slot or a feature, a column a key; undefined: not known
  bool slots = false;  // rows are weights that gather keys; else they are the keys' features
};

struct Approximation {
  Tensor exact;    // [L_q, L]: a softmax's weights, as the variant reports them or computed here
  Tensor implied;  // [L_q, L]: what the method amounts to
  // [L_q]: KL(exact, implied) of each row, in bits; undefined where weights are below zero.
  Tensor divergence;
  Mix mix;
  TokenAxis queries, keys;
};

bool shows_approximation(const AttentionTap& tap);
Approximation approximation_of(const MechanismOf& of);
bool has_negative(const Tensor& numbers);

}  // namespace attnscope
