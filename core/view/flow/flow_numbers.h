// Numbers of the flow view: one token's path through the model and one of its heads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/finding.h"
#include "core/trace/trace.h"

namespace attnscope {

// A labelled summand of a sum of vectors.
struct FlowTerm {
  std::string name;
  Tensor values;  // [n]
};

struct FlowKey {
  Index column = 0;
  std::string label;  // "␣boat"
  double weight = 0;
  std::optional<double> score{};  // empty for variants without pair scores
};

// Output of a head for one query: output_i = Σ_j a_ij v_j (Vaswani et al., 2017, equation 1).
struct FlowSum {
  Tensor weights;             // [L_k]: the whole row
  std::vector<FlowKey> keys;  // sorted by decreasing magnitude of weight
  Tensor query;               // [d_k]; undefined if the variant compares no pairs
  Tensor key_vectors;         // [keys, d_k]; undefined if `query` is undefined
  Tensor values, weighted;    // [keys, d_v]: v_j and a_ij v_j
  Index others = 0;           // number of attended keys that are not in `keys`
  double sink = 0;            // weight of the head's attention sink
  double others_weight = 0;   // total weight of the other keys
  Tensor others_sum;          // [d_v]: sum of the other keys' weighted values
  Tensor relative_sum;        // [d_v]: sum of weighted relative-position values; may be undefined
  Tensor sum;                 // [d_v]: rows of `weighted` + others_sum + relative_sum
  Tensor output;              // [d_v]: the head's recorded output
  bool adds_values = false;   // false: values and the three sums are undefined
  bool is_output = false;     // `sum` equals `output`; false: the variant processes `sum` further
};

// Heads of a layer for one query: concatenated outputs times W_o.
struct FlowHeads {
  Tensor outputs;            // [h, d_v]; undefined if heads differ in size
  Tensor adds;               // [h, d]: contribution of each head; undefined without W_o
  Tensor bias;               // [d]: bias of W_o; undefined if 0
  Tensor joined;             // [d]: sum of all contributions and the bias
  std::vector<bool> is_off;  // by head: switched off by an intervention
};

// A layer's effect on the token's vector.
struct FlowLayer {
  enum class Join {
    Sum,       // `output` = `input` + all terms
    Normed,    // the sum is normalised after each term
    Gated,     // gates control how much of each term passes
    Replaced,  // each term replaces the state: no residual connection
    Copied,    // the token has exited: `output` equals `input`
    Off,       // an intervention switches the layer off: `output` equals `input`
  };
  Join join = Join::Sum;
  FlowTerm input;               // the token's state before the layer
  std::vector<FlowTerm> terms;  // attention, feed-forward; with Join::Sum also further summands
  Tensor output;                // [d]: the token's state after the layer
};

// A state of the token, from the embedding to the last layer.
struct FlowState {
  std::string label;               // "embedding", "layer 3"
  std::optional<HeadRef> layer{};  // head 0 of the layer; empty for the embedding
  Tensor values;                   // [d]
  std::string guess{};             // logit-lens prediction; empty: unknown
  double probability = 0;          // probability of `guess`
  bool copied = false;             // copied from the previous state: the token has exited
};

struct FlowCandidate {
  std::string label;
  double probability = 0;
};

struct FlowNumbers {
  Index query = 0;   // row of the tap
  Index token = -1;  // index in the queries' stream; -1: the query is not a token
  std::string label;
  FlowSum sum;
  FlowHeads heads;
  std::optional<FlowLayer> layer;         // empty: not recorded
  std::vector<FlowState> states;          // empty: not recorded
  std::vector<FlowCandidate> candidates;  // next-token predictions, descending; empty: none
};

// Prefix of the taps of a layer's residual stream: "encoder.layers.3.", "steps.2.layers.0.".
std::string layer_tap(const HeadRef& layer);
// Tap of the token vectors that a stack reads: "embed", "encoder.embed".
std::string embedding_tap(const TracePart& part);
// Layers of a stack over all steps, in the order of computation.
std::vector<HeadRef> layers_of(const Trace& trace, TracePart part);

// The followed query: the pinned token, else the first masked token, else the last token.
Index flow_query(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// `keys`: maximum number of keys, including the pinned one. The tap must have an output.
FlowNumbers flow_numbers(const Trace& trace, const Findings& findings, const Session& session,
                         const AttentionTap& tap, Index head_in_group, Index keys);
// Computes FlowNumbers::sum. `pinned`: a column to include even if its weight is small; -1: none.
FlowSum flow_sum(const Trace& trace, const AttentionTap& tap, Index head_in_group, Index query,
                 Index keys, Index pinned = -1);

// Compute FlowNumbers::heads and ::layer. Interventions can switch heads and layers off.
FlowHeads flow_heads(const Trace& trace, const Interventions& interventions,
                     const AttentionTap& tap, Index query);
std::optional<FlowLayer> flow_layer(const Trace& trace, const Interventions& interventions,
                                    const HeadRef& head, Index token);

}  // namespace attnscope
