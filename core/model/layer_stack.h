// Stack of layers, shared by all architectures.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/site.h"

namespace attnscope {

class Pass;

struct LayerStack {
  std::vector<Site> sites;  // one per layer
  Var source;               // [B L_source, d] input of cross-attention, or undefined
  // Called after each layer n (from 1) with the states [rows, d] before and after the layer.
  // Returns the input of the next layer. Early exits restore the states of exited tokens here.
  std::function<Var(Index n, const Var& old_state, const Var& new_state)> after_layer;
  // Returns the rows (possibly none) whose states layer n computes; nullopt or empty function: all.
  // Other rows keep their states; later rows may still use their keys. Batch size 1 only.
  std::function<std::optional<std::vector<std::int32_t>>(Index n)> active_rows;
};

// Stack with the sites "layers.0.", ... below `stack` ("" or "encoder."). weights_of: maps a layer
// to the layer whose weights it uses; empty: no shared weights.
LayerStack layer_stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       const Address& address, bool causal,
                       const std::function<Index(Index layer)>& weights_of = {});

// Runs all layers with the model's residual connection, without the final norm.  x: [n, d]
Var run_layers(Pass& pass, const LayerStack& stack, const Var& x);

}  // namespace attnscope
