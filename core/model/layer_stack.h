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
  Var source;               // [B L_source, d] input of cross-attention; undefined: none
  // Called after each layer n (from 1) with the states [rows, d] before and after it; returns the
  // state with which to continue. Early exits restore the states of exited tokens here.
  std::function<Var(Index n, const Var& old_state, const Var& new_state)> after_layer;
  // Returns the rows, maybe none, whose states layer n computes; nullopt, like no function: all.
  // Others keep their states; their keys are computed if later rows need them. For one sequence.
  std::function<std::optional<std::vector<std::int32_t>>(Index n)> active_rows;
};

// Stack with the sites "layers.0.", ... below `stack` ("" or "encoder."). weights_of: maps a layer
// to the layer whose weights it uses; empty: each layer uses its own.
LayerStack layer_stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       const Address& address, bool causal,
                       const std::function<Index(Index layer)>& weights_of = {});

// Runs all layers with the model's residual connection, without the final norm.  [n, d] -> [n, d]
Var run_layers(Pass& pass, const LayerStack& stack, const Var& x);

}  // namespace attnscope
