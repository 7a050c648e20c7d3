// Applies a position encoding alone, without attention, to vectors at given positions.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

// An encoding with its inputs other than queries and keys.
struct EncodingUse {
  Choice encoding;
  NamedVars weights;
  Dimensions dimensions;
  bool causal = false;
};
// The tap's encoding. If it encodes recurrence steps, its parameter "step" is the tap's step.
Choice encoding_of(const AttentionTap& tap);
// The tap's encoding with its inputs; `model` is the width of the vectors that it is added to.
EncodingUse encoding_use(const AttentionTap& tap, Index model);
// Likewise, in a model of this configuration. Encodings of the input have the embedding's width.
EncodingUse encoding_use(const AttentionTap& tap, const ModelConfig& config);

// Applies an encoding of query-key pairs to queries q [h, L_q, d_k] and keys k [h_kv, L_k, d_k],
// with all pairs allowed. Empty positions mean 0, 1, ...
Part encoded_part(const EncodingUse& use, const Tensor& q, const Tensor& k,
                  std::vector<std::int32_t> pos_q, std::vector<std::int32_t> pos_k);

// Vectors that an encoding of the input adds at positions 0 .. count - 1.  [count, d]
Tensor position_vectors(const EncodingUse& use, Index count);

}  // namespace attnscope
