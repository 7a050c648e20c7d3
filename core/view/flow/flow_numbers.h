// Numbers of the flow view: one token's path through the model by way of one head.
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
  std::optional<double> score{};  // score of the weight, for variants with pair scores
};

// Output of a head for one query: output_i = Σ_j a_ij v_j (Vaswani et al., 2017, equation 1).
struct FlowSum {
  Tensor weights;             // [L_k]: the whole row
  std::vector<FlowKey> keys;  // by decreasing magnitude of weight
  Tensor query;               // [d_k], as compared; undefined without pair products
  Tensor key_vectors;         // [keys, d_k]; likewise
  Tensor values, weighted;    // [keys, d_v]: v_j and a_ij v_j
  Index others = 0;           // keys with a weight that are not in `keys`
  double sink = 0;            // weight of the head's attention sink
  double others_weight = 0;   // weight of the others
  Tensor others_sum;          // weighted values of the others  [d_v]
  Tensor places;              // [d_v]: relative-position values; undefined if there are none
  Tensor sum;                 // [d_v]: of all of these; undefined if values are
  Tensor output;              // [d_v]: the head's recorded output
  bool adds_values = false;   // false: values, others_sum, places and sum are undefined
  bool is_output = false;     // the sum is the output; false: the variant processes it further
};

// The heads of a layer for one query: concatenated and times W_o.
struct FlowHeads {
  Tensor outputs;         // [h, d_v]; undefined if heads differ in size
  Tensor adds;            // [h, d]: contribution of each head; undefined without W_o
  Tensor bias;            // [d]: bias of W_o; undefined if 0
  Tensor joined;          // [d]: recorded sum of all heads
  std::vector<bool> off;  // switched off by an intervention
};

// The token's vector before and after a layer.
struct FlowLayer {
  enum class Join {
    Sum,     // `after` is the sum of all terms
    Normed,  // each sum is normalised before the next
    Gated,   // gates control how much of each term passes
    Copied,  // the token has exited: `after` equals `before`
    Off,     // the layer is switched off by an intervention: likewise
  };
  Join join = Join::Sum;
  FlowTerm before;
  std::vector<FlowTerm> terms;  // outputs of attention and feed-forward; with Sum also all others
  Tensor after;                 // [d]
};

// A state of the token, from the embedding to the last layer.
struct FlowState {
  std::string label;            // "embedding", "layer 3"
  std::optional<HeadRef> at{};  // head 0 of the layer; none for the embedding
  Tensor values;                // [d]
  std::string guess{};          // logit-lens prediction; empty: unknown
  double chance = 0;            // its probability
  bool copied = false;          // copied from the previous state: the token has exited
};

struct FlowChance {
  std::string label;
  double chance = 0;
};

struct FlowNumbers {
  Index query = 0;   // row of the tap
  Index token = -1;  // in the queries' stream; -1: not a token
  std::string label;
  FlowSum sum;
  FlowHeads heads;
  std::optional<FlowLayer> layer;   // empty: not recorded
  std::vector<FlowState> states;    // likewise
  std::vector<FlowChance> chances;  // next-token predictions, descending; empty: none
};

// The followed query: the pinned one, else the first masked token, else the last.
Index flow_query(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// `keys`: maximum number of keys, including the pinned one. The tap must have an output.
FlowNumbers flow_numbers(const Trace& trace, const Findings& findings, const Session& session,
                         const AttentionTap& tap, Index head_in_group, Index keys);
// The sum only. `also`: a column to include however small its weight; -1: none.
FlowSum flow_sum(const Trace& trace, const AttentionTap& tap, Index head_in_group, Index query,
                 Index keys, Index also = -1);

// The heads only, some possibly switched off; the layer only, for one token of the stream.
FlowHeads flow_heads(const Trace& trace, const Interventions& interventions,
                     const AttentionTap& tap, Index query);
std::optional<FlowLayer> flow_layer(const Trace& trace, const Interventions& interventions,
                                    const HeadRef& at, Index token);

}  // namespace attnscope
