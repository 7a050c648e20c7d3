// A transformer decoder (or, without `causal`, an encoder): weights by name, the forward pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/attention/backend.h"
#include "core/experiment/intervention.h"
#include "core/experiment/trace.h"
#include "core/model/config.h"
#include "core/tensor/narrow_matrix.h"

namespace attnscope {

struct Model {
  ModelConfig config;
  NamedVars weights;  // names and shapes: weights.h
  // Matrices that a large checkpoint stores as 16-bit numbers, in place of a Var in `weights`.
  std::map<std::string, NarrowMatrix> narrow;
  std::vector<std::string> untrained;  // weights that got their Info's initial values
};

// Fresh weights, deterministic in the seed. Constants; training makes parameters of them.
Model make_model(const ModelConfig& config, std::uint64_t seed);

// The same model with other head groups (a person's choice in place of the checkpoint's). Every
// head keeps the weights that its variant and encoding had; those that it needs and the model
// lacks get their initial values, the same however heads are grouped, and are named in
// `untrained`. All other weights are shared. InputError when a combination cannot work.
Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal);

// Keys and values of the tokens that a model has seen.
struct KeyValueCache {
  struct Rows {
    Tensor k, v;  // [B h_kv, length, d_k], before any encoding of pairs
  };
  std::map<std::pair<Index, Index>, Rows> groups;  // by layer and head group
  Index length = 0;                                // tokens
  Index steps = 0;                                 // forward passes
};

// Why keys and values of a model cannot be cached, since earlier rows change as the text grows:
// "Sinkhorn: ..."; empty when they can.
std::string cache_refusal(const ModelConfig& config);

// The same model for sequences of up to `context` tokens, more than it was trained on. Weights
// whose shape follows from that get their initial values anew; InputError names one that was
// trained.
Model with_context(const Model& model, Index context);

struct ForwardOptions {
  Backend* backend = nullptr;  // null: the CPU
  Stop stop;
  Trace* trace = nullptr;      // filled with taps where given (batch 1 only)
  bool keep_attention = true;  // in the trace, on host or device as the backend has it
  // The ids follow those in the cache, which gets them too. The trace has their rows alone, over
  // all keys so far. InputError where cache_refusal() has a reason.
  KeyValueCache* cache = nullptr;
  // What a person changes in the model, checked by check(interventions, ...); null: nothing. Not
  // with a cache.
  const std::vector<Intervention>* interventions = nullptr;
  bool last_logits = false;        // of each sequence's last token alone
  std::uint64_t dropout_seed = 0;  // used when config.dropout > 0 and training
  bool training = false;
};

// ids: [B, L], each in [0, vocabulary). Returns logits [B, L, vocabulary], or with `last_logits`
// [B, 1, vocabulary].
//
// The trace gets the attention of every head group, the logits, and the taps
//   embed                  [L, d]  what enters the first layer
//   layers.N.attention     [L, d]  what the attention block adds
//   layers.N.feed_forward  [L, d]  what the feed-forward adds
//   layers.N.residual      [L, d]  what leaves the layer
//   final                  [L, d]  what the output projection sees
Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options);

}  // namespace attnscope
