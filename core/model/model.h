// Model: a configuration with weights by name, and its forward pass.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/model/batch.h"
#include "core/model/config.h"
#include "core/model/key_cache.h"
#include "core/model/probe.h"
#include "core/tensor/narrow_matrix.h"
#include "core/trace/intervention.h"
#include "core/trace/trace.h"

namespace attnscope {

struct Model {
  ModelConfig config;
  NamedVars weights;  // names and shapes: weights.h
  // Matrices that keep the 16-bit or quantised format of their checkpoint; not in `weights`.
  std::map<std::string, NarrowMatrix> narrow;
  std::vector<std::string> untrained;  // names of weights with initial or illustrative values
  std::vector<std::string> notes;      // ignored features of the checkpoint, for the user
};

// Creates fresh weights, deterministic in the seed. They have no gradients.
Model make_model(const ModelConfig& config, std::uint64_t seed);

// Returns the model with other head groups. Every head keeps the weights of its variant and
// encoding. Missing weights are listed in `untrained`. They get illustrative values for `tokens`
// tokens (0: unknown) if their WeightInfo defines such values, else initial values; neither depends
// on the grouping. All other weights are shared. Throws InputError for incompatible combinations.
Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal, Index tokens = 0);

// State kept between passes: keys and values of processed tokens (generation), or the memory of
// earlier segments. Maps are by stack, layer and head group.
struct State {
  std::map<Address, Remembered> groups;  // memory of earlier segments
  // Keys and values of the first `length` tokens; an interrupted pass may leave further ones.
  std::map<Address, KeyCache> keys;
  Tensor encoded;    // [B L_source, d] output of the encoder
  Index length = 0;  // number of processed tokens
  Index steps = 0;   // number of passes
};

// Reason why keys and values cannot be cached ("Sinkhorn: ..."): earlier rows change as the text
// grows. Empty if they can be cached. exits_early: the pass has an early-exit threshold.
std::string cache_refusal(const ModelConfig& config, bool exits_early = false);

// Notes on variants of a causal model whose rows, with the current weights, depend on later tokens
// despite the causal mask ("Routing leaks future tokens: ..."). The model then sees its targets.
std::vector<std::string> future_leak_notes(const Model& model);

// Returns the model with a longer context than it was trained on. Weights whose shape depends on
// the context are set to initial values; trained weights of this kind cause an InputError.
Model with_context(const Model& model, Index context);

class Retrieval;  // core/model/retrieval.h

// Multiply-add count of a pass: products with the matrices of attention, feed-forward, exits and
// output, and attention itself (scores and weighted sums, over the pairs of its pattern). Excludes
// norms, activations, residual gates, halting, recurrent cells, retrieval heads, and weights of
// encodings and variants.
struct Work {
  double multiply_adds = 0;
};

struct ForwardOptions {
  Backend* backend = nullptr;  // null: the CPU
  Trace* trace = nullptr;      // receives the taps (batch size 1 only); null: none
  bool keep_attention = true;  // keeps attention maps in the trace, on host or device
  // False: the trace computes the taps within layers and the logits again when they are read
  // (RecomputedLayer), and Output::logits is undefined. Requires a trace, the CPU, and a run
  // without segments, cache, exits, retrieval, targets and gradients.
  bool keep_activations = true;
  // Keys and values of earlier tokens; the pass appends those of the new tokens. The trace has only
  // rows of new tokens, over all keys so far. Throws InputError if cache_refusal() is not empty.
  State* cache = nullptr;
  // Memory of earlier segments, updated by the pass. Null: none.
  State* memory = nullptr;
  // Interventions, validated by the caller with check(). Incompatible with a cache. Null: none.
  const std::vector<Intervention>* interventions = nullptr;
  bool last_logits = false;    // computes only the logits of the last token of each sequence
  std::optional<double> exit;  // early-exit confidence threshold (exits.h)
  const Retrieval* retrieval = nullptr;
  std::uint64_t dropout_seed = 0;  // seed of all random numbers in training
  bool training = false;
  // The backward pass recomputes each layer from its input (recomputation.h). Requires a batch with
  // targets, no trace, cache, memory, retrieval or probe, and an empty recomputation_refusal().
  bool recomputes_layers = false;
  // The inputs of recomputed layers are rounded to bfloat16 and kept so, with 2 bytes a number;
  // products and sums stay float32. Requires recomputes_layers.
  bool stores_bfloat = false;
  Work* work = nullptr;          // counter to increment; null: none
  Progress* progress = nullptr;  // receives the current layer
  // Called after each recorded layer of a stack, with the number of layers recorded so far.
  std::function<void(Stack stack, Index layers)> layer_recorded{};
  Probe probe{};  // empty: none
  // Receives new values of weights that are updated without gradients (centroids), by name.
  std::map<std::string, Tensor>* adapted = nullptr;
};

// Runs the model. Computes losses if the batch has targets. Throws InputError if the batch does not
// match the model.
//
// The trace receives the attention of every head group, the logits, and the taps
//   embed                  [L, d]  input of the first layer
//   layers.N.attention     [L, d]  output of the attention block
//   layers.N.cross         [L, d]  output of cross-attention
//   layers.N.feed_forward  [L, d]  output of the feed-forward
//   layers.N.residual      [L, d]  residual stream after the layer
//   final                  [L, d]  input of the output projection
// Names begin with "encoder." in an encoder and with "steps.T." in step T of a recurrence over
// depth. spec-models.md lists further taps.
Output run(const Model& model, const Batch& batch, const ForwardOptions& options);

// Input of the last layer's feed-forward for each token, after its norm: the keys of a datastore
// (retrieval.h).  [n, d]
Tensor context_keys(const Model& model, const Batch& batch, const ForwardOptions& options);

// ids: [B, L], each in [0, vocabulary). Returns logits [B, L, vocabulary], or with `last_logits`
// [B, 1, vocabulary]. Only for architectures that read a single token sequence.
Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options = {});

}  // namespace attnscope
