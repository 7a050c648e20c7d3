// A model: weights by name, and what it gives for a batch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/backend.h"
#include "core/model/batch.h"
#include "core/model/config.h"
#include "core/tensor/narrow_matrix.h"
#include "core/trace/intervention.h"
#include "core/trace/trace.h"

namespace attnscope {

struct Model {
  ModelConfig config;
  NamedVars weights;  // names and shapes: weights.h
  // Matrices that a large checkpoint stores as 16-bit numbers, in place of a Var in `weights`.
  std::map<std::string, NarrowMatrix> narrow;
  std::vector<std::string> untrained;  // weights that got their Info's initial values
  std::vector<std::string> notes;      // what of a checkpoint was left out, for who looks at it
};

// Fresh weights, deterministic in the seed. Constants; training makes parameters of them.
Model make_model(const ModelConfig& config, std::uint64_t seed);

// The same model with other head groups (a person's choice in place of the checkpoint's). Every
// head keeps the weights that its variant and encoding had; those that it needs and the model
// lacks get values that show what they do (WeightInfo::shown) on so many tokens, 0: not known, or
// their initial values, the same however heads are grouped, and are named in `untrained`. All other
// weights are shared. InputError when a combination cannot work.
Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal, Index tokens = 0);

// What a model keeps from one pass to the next, by place: keys and values of the tokens it has
// seen (generation), or what its layers remember of earlier segments.
struct State {
  std::map<Address, Remembered> groups;  // by stack, layer and head group
  Tensor encoded;                        // [B L_source, d] what an encoder made of the source
  Index length = 0;                      // tokens
  Index steps = 0;                       // passes
};

// Why keys and values of a model cannot be cached, since earlier rows change as the text grows:
// "Sinkhorn: ..."; empty when they can.
// leaves: with an exit threshold.
std::string cache_refusal(const ModelConfig& config, bool leaves = false);

// "Routing looks ahead: ..." for each variant of a causal model whose rows hang on later tokens all
// the same, with the weights that the model has: what it predicts it has, in part, seen.
std::vector<std::string> notes_on_looking_ahead(const Model& model);

// The same model for sequences of up to `context` tokens, more than it was trained on. Weights
// whose shape follows from that get their initial values anew; InputError names one that was
// trained.
Model with_context(const Model& model, Index context);

class Retrieval;  // core/model/retrieval.h

// What a pass does, counted as it goes: multiplications with an addition each, in products with the
// matrices of attention, feed-forward, exits and output, and in attention itself (scores and sums
// of values, over the pairs of its pattern). Not in it: norms and activations, gates of joins,
// halting, recurrent cells, mixers, and what encodings and variants do with weights of their own.
struct Work {
  double multiply_adds = 0;
};

struct ForwardOptions {
  Backend* backend = nullptr;  // null: the CPU
  Stop stop;
  Trace* trace = nullptr;      // filled with taps where given (batch 1 only)
  bool keep_attention = true;  // in the trace, on host or device as the backend has it
  // The ids follow those in the cache, which gets them too. The trace has their rows alone, over
  // all keys so far. InputError where cache_refusal() has a reason.
  State* cache = nullptr;
  // What layers remember of the segments before these; gets these, too. Null: nothing before.
  State* memory = nullptr;
  // What a person changes in the model, checked by check(interventions, ...); null: nothing. Not
  // with a cache.
  const std::vector<Intervention>* interventions = nullptr;
  bool last_logits = false;    // of each sequence's last token alone
  std::optional<double> exit;  // tokens leave at the first layer that is sure enough: exits.h
  const Retrieval* retrieval = nullptr;
  std::uint64_t dropout_seed = 0;  // of all that training draws
  bool training = false;
  Work* work = nullptr;          // counted into
  Progress* progress = nullptr;  // is told which layer is computed
  // Called when a layer of a stack is in the trace, with how many there are; empty: nobody is.
  std::function<void(Stack stack, Index layers)> layer_recorded{};
  // Gets new values of weights that training moves without gradients (centroids), by name.
  std::map<std::string, Tensor>* adapted = nullptr;
};

// Runs the model as its architecture says. Losses where the batch has targets. InputError where
// the batch does not suit the model.
//
// The trace gets the attention of every head group, the logits, and the taps
//   embed                  [L, d]  what enters the first layer
//   layers.N.attention     [L, d]  what the attention block adds
//   layers.N.cross         [L, d]  what cross-attention adds
//   layers.N.feed_forward  [L, d]  what the feed-forward adds
//   layers.N.residual      [L, d]  what leaves the layer
//   final                  [L, d]  what the output projection sees
// with "encoder." before those of an encoder and "steps.T." before those of step T, and what
// SPEC-MODELS names.
Output run(const Model& model, const Batch& batch, const ForwardOptions& options);

// What the last layer's feed-forward sees of each token, after its norm: the keys of a store of
// contexts (retrieval.h).  [n, d]
Tensor context_keys(const Model& model, const Batch& batch, const ForwardOptions& options);

// ids: [B, L], each in [0, vocabulary). Returns logits [B, L, vocabulary], or with `last_logits`
// [B, 1, vocabulary]. For architectures that read one sequence of tokens.
Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options);

}  // namespace attnscope
