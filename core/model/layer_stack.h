// Layers one after the other: what the architectures share.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/model/site.h"

namespace attnscope {

class Pass;

// The layers of an encoder or decoder.
struct LayerStack {
  std::vector<Site> sites;  // a layer each
  Var source;               // [B L_source, d] what cross-attention reads; undefined: there is none
  // Sees the state after each layer n, from 1, and may put another in its place (exits).
  // before, after: [n, d]
  std::function<Var(Index n, const Var& before, const Var& after)> after_layer;
  // The rows whose state a layer is to compute, of one sequence, maybe none; null, or nothing: all.
  // The others stay as they are; keys and values are made of all that later ones may look at.
  std::function<std::optional<std::vector<std::int32_t>>(Index n)> active_rows;
};

// Sites "layers.0." ... below `stack` ("" or "encoder."). own_weights: the layer whose weights a
// layer uses; empty: its own.
LayerStack layer_stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       const Address& at, bool causal,
                       const std::function<Index(Index layer)>& own_weights = {});

// x: [n, d] -> [n, d], as the join says; without the norm behind the last layer.
Var run_layers(Pass& pass, const LayerStack& stack, const Var& x);

}  // namespace attnscope
