// A transformer decoder (or, without `causal`, an encoder): weights by name, the forward pass.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/experiment/trace.h"
#include "core/model/config.h"

namespace attnscope {

struct Model {
  ModelConfig config;
  NamedVars weights;                   // names and shapes: weights.h
  std::vector<std::string> untrained;  // weights that got their Info's initial values
};

// Fresh weights, deterministic in the seed. Constants; training makes parameters of them.
Model make_model(const ModelConfig& config, std::uint64_t seed);

// The same model with other head groups (a person's choice in place of the checkpoint's). Weights
// that these need and the model lacks get their initial values and are named in `untrained`.
// The new model shares all other weights. InputError when a combination cannot work.
Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal);

struct ForwardOptions {
  Backend* backend = nullptr;  // null: the CPU
  Stop stop;
  Trace* trace = nullptr;          // filled with taps where given (batch 1 only)
  bool keep_attention = true;      // in the trace, on host or device as the backend has it
  std::uint64_t dropout_seed = 0;  // used when config.dropout > 0 and training
  bool training = false;
};

// ids: [B, L], each in [0, vocabulary). Returns logits [B, L, vocabulary].
//
// The trace gets the attention of every head group, the logits, and the taps
//   embed                  [L, d]  what enters the first layer
//   layers.N.attention     [L, d]  what the attention block adds
//   layers.N.feed_forward  [L, d]  what the feed-forward adds
//   layers.N.residual      [L, d]  what leaves the layer
//   final                  [L, d]  what the output projection sees
Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options);

}  // namespace attnscope
