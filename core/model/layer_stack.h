// Stack of layers, shared by all architectures.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/site.h"

namespace attnscope {

class Pass;

// Layers of an encoder or decoder.
struct LayerStack {
  std::vector<Site> sites;  // one per layer
  Var source;               // [B L_source, d] input of cross-attention; undefined: none
  // Receives the state after each layer n, from 1, and may replace it (exits).
  // before, after: [n, d]
  std::function<Var(Index n, const Var& before, const Var& after)> after_layer;
  // Rows whose states layer n computes, for a single sequence; may be empty. Null or nullopt: all.
  // Other rows keep their states; their keys and values are computed if later rows need them.
  std::function<std::optional<std::vector<std::int32_t>>(Index n)> active_rows;
};

// Sites "layers.0." ... below `stack` ("" or "encoder."). own_weights: maps a layer to the layer
// whose weights it uses; empty: its own.
LayerStack layer_stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       const Address& at, bool causal,
                       const std::function<Index(Index layer)>& own_weights = {});

// x: [n, d] -> [n, d], with the model's residual connection; without the final norm.
Var run_layers(Pass& pass, const LayerStack& stack, const Var& x);

}  // namespace attnscope
