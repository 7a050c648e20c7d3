// Probe of a forward pass: observes vectors between and within the layers, and may replace them.
#pragma once

#include <functional>
#include <string_view>

#include "core/autodiff/var.h"
#include "core/trace/address.h"

namespace attnscope {

class Pass;

enum class ProbePoint {
  // State before a layer [n, d], with the layer's address. Reversible layers pass both streams, one
  // after the other. After the last layer: the state with the number of layers as the layer.
  // Recurrent models pass their inputs, and those with a source also the source's states as
  // layer 1.
  LayerInput,
  NormInput,    // [n, d], with the prefix of the norm's weights: "layers.3.ffn_norm"
  NormOutput,   // [n, d], likewise
  BlockOutput,  // output of a block before the residual connection [n, d]: "layers.3.attn"
  // State after the residual connection of a block, and after the norm in post-norm models [n, d].
  // Reversible layers: the stream that the block updates.
  BlockSum,
  FeedForwardGate,    // x w_gate [n, hidden], before the activation: "layers.3.ffn"
  FeedForwardValue,   // x w_in [n, hidden], before the activation if there is no gate
  FeedForwardHidden,  // [n, hidden] after the activation, and after the product with a gate
  // Streams before a reversible layer, computed again from the streams after it; both streams, last
  // layer first, with the layer's address.
  RecomputedInput,
};

struct ProbePlace {
  ProbePoint point;
  const Pass& pass;
  Address address{};        // LayerInput, RecomputedInput
  std::string_view name{};  // see the points
};

// Returns the vectors with which the pass continues: `x` itself, or others of its shape.
using Probe = std::function<Var(const ProbePlace& place, const Var& x)>;

}  // namespace attnscope
