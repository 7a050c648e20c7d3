// One run of a model: what every architecture is written with.
//
// Activations between blocks are [n, d] with n = B L rows, batch-major.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/model/batch.h"
#include "core/model/model.h"
#include "core/model/site.h"
#include "core/trace/recorder.h"

namespace attnscope {

class Pass {
 public:
  // The model, and what `options` point at, must outlive it. batch: B.
  Pass(const Model& model, const ForwardOptions& options, Index batch);

  const Model& model() const { return model_; }
  const ModelConfig& config() const { return model_.config; }
  const ForwardOptions& options() const { return options_; }
  Index batch() const { return batch_; }
  Recorder& recorder() { return recorder_; }
  bool is_off(Index layer) const;

  // Weights: by name; those below a prefix by the rest of their names.
  bool has(const std::string& name) const { return model_.weights.contains(name); }
  const Var& weight(const std::string& name) const;
  NamedVars weights_below(const std::string& prefix) const;

  // x w + b by the names of the weights; b may be missing.  [n, in] -> [n, out]
  Var linear(const Var& x, const std::string& matrix, const std::string& bias) const;
  // Counts what was done (ForwardOptions::work).
  void count(Index multiply_adds) const;
  Var norm(const Var& x, const std::string& name) const;
  Var dropout(const Var& x);
  // [n, d] -> [B, L, d]
  Var sequences(const Var& x) const;

  Var vectors(const IntTensor& ids) const;  // tokens', [ids.., d]
  // Tokens' vectors and, where an encoding of the input adds any once, their positions; the first
  // token stands at position `first`. stack: "" or "encoder.".  [B, L] -> [n, d]
  Var embed(const IntTensor& ids, const std::string& stack, Index first = 0);
  // What an embedding has behind positions: what the kind of input adds, kinds of tokens, norm,
  // projection.  [n, e] -> [n, d]
  Var embedded_further(const Var& x, const std::string& stack, Index first);
  // The same for vectors that are there already: x [n, d].
  Var with_positions(const Var& x, const Choice& encoding, const std::string& weights,
                     Index first) const;
  // x with what layer `site` adds.
  Var placed(const Site& site, const Var& x) const;
  // Where positions are not added once to the input: what layer `site` adds (to queries and keys
  // alone, or to all).
  const Choice* positions_in_layer(const Site& site) const;

  // Of one sequence, in order; nothing: all rows of all sequences.
  using ActiveRows = std::optional<std::vector<std::int32_t>>;
  // One layer: self-attention, cross-attention where there is a source, feed-forward. rows: those
  // whose state is computed; of the others there are only keys and values.  [n, d] -> [n, d]
  Var block(const Site& site, const Var& x, const Var& source,
            const ActiveRows& rows = std::nullopt);
  // The parts of it that a join may call by itself; each with its norms (before it, and of what it
  // gives where the model has one), not those after the sum.
  Var self_attention(const Site& site, const Var& x);
  Var feed_forward(const Site& site, const Var& x);

  // An attention without weights of its own, one head; input: q, k, v.  [B, L_q, d]
  Var plain_attention(const Address& at, OperationInput input);

  // The final norm of a stack, where it has one.
  Var end(const Var& x, const std::string& stack);
  Var logits(const Var& x) const;  // [n, d] -> [n, vocabulary]; undefined without an output head

  // Kinds of the tokens to be embedded, [B, L]; undefined: all 0.
  void set_token_types(IntTensor types) { types_ = std::move(types); }
  // Pixels of the pieces of an image, [B, n, e]; undefined: none.
  void set_patches(Tensor patches) { patches_ = std::move(patches); }
  const Tensor& patches() const { return patches_; }

  void tap(const std::string& name, const Var& x, Index segment = 0);
  // What of the whole run the next layers are, for who waits (ForwardOptions::progress): "segment 3
  // of 40, ", from 0 to 1. To begin with they are all of it.
  void enter(std::string words, double from, double to);
  // Adds to the loss of this name.
  void add_loss(const std::string& name, const Var& value, double weight);
  std::vector<Loss> take_losses() { return std::move(losses_); }
  // Whether layers of this model add any: then their tape is needed.
  bool layers_add_losses() const;
  void forget_losses() { losses_.clear(); }
  // Takes over what a pass over the same batch, with other weights, left for later.
  void adopt(const Pass& other) { feed_forward_input_ = other.feed_forward_input_; }

  // What retrieval reads: what the feed-forward of the decoder's last layer saw, after its norm,
  // and the final state, all rows in the order of the text.  [n, d] each
  struct Readout {
    Var query, state;
  };
  const Readout& readout() const { return readout_; }
  void set_readout(Readout readout) { readout_ = std::move(readout); }
  const Var& last_feed_forward_input() const { return feed_forward_input_; }
  void set_last_feed_forward_input(Var x) { feed_forward_input_ = std::move(x); }
  // What layers remember of segments, for those that architectures cut.
  State* memory() const { return memory_; }
  void set_memory(State* memory) { memory_ = memory; }
  // Position of the first row: of tokens that follow a cache or earlier segments.
  Index first_position(const Site& site) const;
  // The dropouts so far: a layer that is computed again must draw the same.
  std::uint64_t dropouts() const { return dropouts_; }
  void set_dropouts(std::uint64_t count) { dropouts_ = count; }

 private:
  // What an attention reads, each [n, d].
  struct Rows {
    Var q, k, v;        // after a pre-norm; q and k maybe with positions
    Var entered;        // what entered the layer: self-attention remembers it
    Index skipped = 0;  // rows of the sequence before the first of q
  };
  Var attention_of(const Site& site, const Var& x, const std::vector<std::int32_t>& rows);
  void cache_keys(const Site& site, const Var& x);
  Var projection(const Var& x, const std::string& prefix, const char* letter) const;
  Var query_key_normed(const Var& x, const Var& gain, const Var& bias) const;
  std::string positions_weights(const Site& site) const;
  Rows attention_rows(const Site& site, const Var& x) const;
  // What of q and k comes from position vectors, [B, L, h d_k]; undefined where it is not known.
  struct Shares {
    Var q, k;
  };
  Shares position_shares(const Site& site, const Rows& rows, const std::string& prefix);
  Var attend(const Site& site, const Rows& rows);
  void tell_layer(const Site& site, Index group, Index groups) const;
  Var group_attention(const Site& site, Index group, const HeadRange& range, OperationInput input,
                      const Var& entered);
  OperationResult evaluated(const Site& site, const OperationInput& input, const Wanted& wanted);
  // Keys and values that rows of the layer's input [B, n, d] give the heads of `range`.
  std::pair<Var, Var> projected(const Site& site, const HeadRange& range, const Var& rows,
                                bool constant) const;
  void add_score_ingredients(const Site& site, const HeadRange& range, OperationInput& input) const;
  void recall_memory(const Site& site, const HeadRange& range, OperationInput& input);
  void remember(const Site& site, const HeadRange& range, const OperationInput& input,
                const OperationResult& result, const Var& entered);
  Remembered& place_of(State& state, const Site& site, Index group) const;
  void add_cached(const Site& site, Index group, OperationInput& input);
  std::pair<StreamRows, StreamRows> stream_rows(const Site& site) const;
  std::function<Tensor(const Tensor&)> output_projection(const Site& site) const;
  void keep(const Site& site, Index group, const HeadGroup& chosen, OperationInput input,
            OperationResult result, std::vector<RowSource> remembered = {});
  void add_quantities(const HeadGroup& group, const OperationResult& result);
  Wanted wanted(const HeadGroup& group) const;
  Var without_off_heads(const Var& x, const Site& site, Index first_head, Index heads) const;
  Var heads_of(const Var& projection, Index first, Index count) const;
  Var cross_attention(const Site& site, const Var& x, const Var& source);
  Var activated(const Var& x) const;
  Var added(const Site& site, const char* place, const Var& y) const;
  Var widened_and_narrowed(const Var& x, const std::string& at) const;
  Var of_experts(const Site& site, const Var& x);
  Var parallel_branches(const Site& site, const Var& x, const Var& attended);
  Var sublayer(const Site& site, const char* norm_name, const char* place, const char* tap_name,
               const Var& x, const std::function<Var(const Var&)>& function);
  Var joined(const Site& site, const char* place, const Var& x, const Var& y);
  std::vector<std::int32_t> positions(Index length, Index first) const;

  const Model& model_;
  const ForwardOptions& options_;
  Backend& backend_;
  const Interventions no_changes_;
  const Interventions& changes_;
  State* memory_;
  Index batch_;
  Recorder recorder_;
  std::vector<Loss> losses_;
  Var feed_forward_input_;
  Readout readout_;
  std::uint64_t dropouts_ = 0;
  struct Stage {
    std::string words{};
    double from = 0, to = 1;
  };
  Stage stage_{};
  IntTensor types_;
  Tensor patches_;
  std::vector<std::int32_t> active_rows_;  // of the block that runs; empty: all
  // What the encoding of a stack's input added, the same for all of its layers.
  struct AddedPositions {
    Index first = -1;  // the position of the first row
    Tensor rows{};     // [n, d]
  };
  std::map<std::string, AddedPositions> added_positions_;
};

}  // namespace attnscope
