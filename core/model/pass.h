// Forward pass: the building blocks of all architectures.
//
// Activations between blocks are [n, d] with n = B L rows, batch-major.
#pragma once

#include <functional>
#include <memory>
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
  // The model and everything that `options` points to must outlive the pass. batch: B.
  Pass(const Model& model, const ForwardOptions& options, Index batch);

  const Model& model() const { return model_; }
  const ModelConfig& config() const { return model_.config; }
  const ForwardOptions& options() const { return options_; }
  Index batch() const { return batch_; }
  Recorder& recorder() { return recorder_; }
  bool is_off(Index layer) const;  // true if an intervention disables the layer

  // weights_below(): weights whose names begin with `prefix`, by name without the prefix.
  bool has(const std::string& name) const { return model_.weights.contains(name); }
  const Var& weight(const std::string& name) const;
  NamedVars weights_below(const std::string& prefix) const;

  // x w + b with the weights of these names; b may be missing.  [n, in] -> [n, out]
  Var linear(const Var& x, const std::string& matrix, const std::string& bias) const;
  // Adds to the count of ForwardOptions::work.
  void count(Index multiply_adds) const;
  Var norm(const Var& x, const std::string& name) const;
  // The vectors that ForwardOptions::probe returns for x; x itself without a probe.
  Var probed(ProbePoint point, const Var& x, std::string_view name = {}) const;
  Var probed(ProbePoint point, const Var& x, const Address& address) const;
  Var dropout(const Var& x);
  // x plus the scalar weight of this name, or x if the model has none.
  Var shifted(const Var& x, const std::string& name) const;
  // [n, d] -> [B, L, d]
  Var sequences(const Var& x) const;

  Var token_vectors(const IntTensor& ids) const;  // vectors without positions, [ids.., d]
  // Token vectors plus positions, if an input encoding is added once; `first` is the position of
  // the first token. stack: "" or "encoder.".  [B, L] -> [n, d]
  Var embed(const IntTensor& ids, const std::string& stack, Index first = 0);
  // Embedding steps after positions: input kind, token types, norm, projection.
  // [n, e] -> [n, d]
  Var finish_embedding(const Var& x, const std::string& stack, Index first);
  // Adds positions to vectors x [n, d]. prefix: prefix of the encoding's weights.
  Var with_positions(const Var& x, const Choice& encoding, const std::string& prefix,
                     Index first) const;
  // x plus the positions that layer `site` adds.
  Var add_layer_positions(const Site& site, const Var& x) const;
  // Input encoding that layer `site` adds to queries and keys, and to values if
  // is_added_to_values(); null if the layer adds none.
  const Choice* encoding_added_in_layer(const Site& site) const;

  // Rows of a single sequence, ascending; nullopt: all rows of all sequences.
  using ActiveRows = std::optional<std::vector<std::int32_t>>;
  // One layer: self-attention, cross-attention if there is a source, feed-forward. rows: rows whose
  // states are computed; other rows only provide keys and values.  [n, d] -> [n, d]
  Var block(const Site& site, const Var& x, const Var& source,
            const ActiveRows& rows = std::nullopt);
  // block(), recording taps according to ForwardOptions::keep_activations.
  Var recorded_block(const Site& site, const Var& x, const Var& source, const ActiveRows& rows);
  // Blocks of a layer, for residual connections that run layers themselves. They include the norms
  // of the block input and output, but not the norm after the residual sum.
  Var self_attention(const Site& site, const Var& x);
  Var feed_forward(const Site& site, const Var& x);

  // Attention with one head and without projections; `input` has q, k and v.  [B, L_q, d]
  Var plain_attention(const Address& address, OperationInput input);

  // Final norm of a stack, if it has one.
  Var final_norm(const Var& x, const std::string& stack);
  Var logits(const Var& x) const;  // [n, d] -> [n, vocabulary]; undefined without an output head
  // logits() of the final states, recorded. Undefined if the trace computes the logits again.
  Var recorded_logits(const Var& x, Index segment = 0);

  // Types of the tokens to embed, [B, L]; undefined: all 0.
  void set_token_types(IntTensor types) { types_ = std::move(types); }
  // Pixels of image patches, [B, n, e]; undefined: none.
  void set_patches(Tensor patches) { patches_ = std::move(patches); }
  const Tensor& patches() const { return patches_; }

  void tap(const std::string& name, const Var& x, Index segment = 0);
  // Begins a stage ("segment 3 of 40, ") that covers the run's progress from `begin` to `end`, in
  // [0, 1]. Initially, one stage covers the whole run.
  void begin_stage(std::string name, double begin, double end);
  // Adds `value` to the loss `name`: to Loss::value and, multiplied by `weight`, to Loss::weighted.
  void add_loss(const std::string& name, const Var& value, double weight);
  std::vector<Loss> take_losses() { return std::move(losses_); }
  void discard_losses() { losses_.clear(); }
  // Copies last_feed_forward_input() from a pass over the same batch with other weights.
  void copy_ffn_input(const Pass& other) { feed_forward_input_ = other.feed_forward_input_; }

  // Inputs of retrieval, both [n, d] with rows in text order. query: input of the decoder's last
  // feed-forward, after its norm; state: final state.
  struct Readout {
    Var query, state;
  };
  const Readout& readout() const { return readout_; }
  void set_readout(Readout readout) { readout_ = std::move(readout); }
  const Var& last_feed_forward_input() const { return feed_forward_input_; }
  void set_last_feed_forward_input(Var x) { feed_forward_input_ = std::move(x); }
  // Memory across segments, for architectures that split their input.
  State* memory() const { return memory_; }
  void set_memory(State* memory) { memory_ = memory; }
  // Position of the first row: the number of tokens in the cache or in earlier segments.
  Index first_position(const Site& site) const;
  // Number of dropout masks drawn so far; a recomputed layer must draw the masks of its first run.
  std::uint64_t dropouts() const { return dropouts_; }
  void set_dropouts(std::uint64_t count) { dropouts_ = count; }

 private:
  // Inputs of an attention, [n, d] each.
  struct Rows {
    Var q, k, v;        // after the norm; q and k may include positions
    Var layer_input;    // stored in the memory
    Index skipped = 0;  // rows of the sequence before the first row of q
  };
  Var attend_rows(const Site& site, const Var& x, const std::vector<std::int32_t>& rows);
  void cache_keys(const Site& site, const Var& x);
  Var projection(const Var& x, const std::string& prefix, const char* letter) const;
  Var norm_queries_or_keys(const Var& x, const Var& gain, const Var& bias) const;
  std::string positions_prefix(const Site& site) const;
  Rows attention_rows(const Site& site, const Var& x) const;
  // Contribution of position vectors to q and k, [B, L, h d_k]; undefined if unknown.
  struct Terms {
    Var q, k;
  };
  Terms position_terms(const Site& site, const Rows& rows, const std::string& prefix);
  Var attend(const Site& site, const Rows& rows);
  // Model and interventions of taps that are computed again after the pass.
  struct Setting {
    Model model;
    Interventions interventions;
  };
  void report_layer(const Site& site, Index group, Index groups) const;
  Var group_attention(const Site& site, Index group, const HeadRange& range, OperationInput input,
                      const Var& layer_input);
  OperationResult evaluate_operation(const Site& site, const OperationInput& input,
                                     const ResultRequest& wanted);
  // Keys and values of rows [B, n, d] of the layer's input, for the heads of `range`. constant:
  // without gradients of the weights.
  std::pair<Var, Var> project_rows(const Site& site, const HeadRange& range, const Var& rows,
                                   bool constant) const;
  void add_score_options(const Site& site, const HeadRange& range, OperationInput& input) const;
  void recall_memory(const Site& site, const HeadRange& range, OperationInput& input);
  void remember(const Site& site, const HeadRange& range, const OperationInput& input,
                const OperationResult& result, const Var& layer_input);
  Remembered& stored_rows(State& state, const Site& site, Index group) const;
  void set_method(const HeadGroup& group, OperationInput& input) const;
  void add_cached(const Site& site, Index group, OperationInput& input);
  std::pair<StreamRows, StreamRows> stream_rows(const Site& site) const;
  std::function<Tensor(const Tensor&)> output_projection(const Site& site) const;
  void record_attention(const Site& site, Index group, const HeadGroup& head_group,
                        OperationInput input, OperationResult result,
                        std::vector<RowSource> remembered = {});
  std::function<Trace()> layer_computation(const Site& site, const Var& x, const Var& source);
  std::shared_ptr<const Setting> setting();
  void add_span_loss(const HeadGroup& group, const OperationResult& result);
  ResultRequest wanted(const HeadGroup& group) const;
  Var zero_disabled_heads(const Var& x, const Site& site, Index first_head, Index heads) const;
  Var select_heads(const Var& projection, Index first, Index count) const;
  Var cross_attention(const Site& site, const Var& x, const Var& source);
  Var block_output(const Site& site, const char* block, const Var& y) const;
  // block: "layers.3.ffn", or an expert's "layers.3.ffn.experts.2". is_causal: direction of the
  // separable convolutions, if the block has kernels.
  Var apply_feed_forward(const Var& x, const std::string& block, bool is_causal) const;
  Var mix_experts(const Site& site, const Var& x);
  Var parallel_branches(const Site& site, const Var& x, const Var& attended);
  Var sublayer(const Site& site, const char* norm_name, const char* block, const char* tap_name,
               const Var& x, const std::function<Var(const Var&)>& function);
  Var apply_residual(const Site& site, const char* block, const Var& x, const Var& y);
  std::vector<std::int32_t> positions(Index length, Index first) const;

  const Model& model_;
  const ForwardOptions& options_;
  Backend& backend_;
  const Interventions no_interventions_;
  const Interventions& interventions_;
  State* memory_;
  Index batch_;
  Recorder recorder_;
  std::shared_ptr<const Setting> setting_;  // null: not needed yet
  std::vector<Loss> losses_;
  Var feed_forward_input_;
  Readout readout_;
  std::uint64_t dropouts_ = 0;
  struct Stage {
    std::string name{};
    double begin = 0, end = 1;
  };
  Stage stage_{};
  IntTensor types_;
  Tensor patches_;
  std::vector<std::int32_t> active_rows_;  // active rows of the running block; empty: all
  // Input encoding of a stack, identical for all of its layers.
  struct AddedPositions {
    Index first = -1;  // position of the first row
    Tensor rows{};     // [n, d]
  };
  std::map<std::string, AddedPositions> added_positions_;
};

}  // namespace attnscope
