// What an encoding does by itself, to given vectors at given positions: by its own code.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// An encoding with what it needs beside queries and keys.
struct EncodingUse {
  Choice encoding;
  NamedVars weights;
  Dimensions dimensions;
  bool causal = false;
};
// A tap's encoding, of those that take the step of a recurrence the tap's own step.
Choice encoding_of(const AttentionTap& tap);
// That of a tap; `model` is the width d.
EncodingUse encoding_use(const AttentionTap& tap, Index model);

// Queries q [h, L_q, d_k] and keys k [h_kv, L_k, d_k] as an encoding of pairs leaves them, with its
// tables; every pair is allowed. Empty positions stand for 0, 1, ...
Part encoded_part(const EncodingUse& use, const Tensor& q, const Tensor& k,
                  std::vector<std::int32_t> pos_q, std::vector<std::int32_t> pos_k);

// What an encoding of the input adds at positions 0 .. count - 1.  [count, d]
Tensor position_vectors(const EncodingUse& use, Index count);

}  // namespace attnscope
