// The numbers that the view Flow shows: one token's way through the model, by one head.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/finding.h"
#include "core/trace/trace.h"

namespace attnscope {

// A vector that is added to others, and what it is called.
struct FlowTerm {
  std::string name;
  Tensor values;  // [n]
};

struct FlowKey {
  Index column = 0;
  std::string label;  // "␣boat"
  double weight = 0;
  std::optional<double> score{};  // what the weight is made of, where pairs have one
};

// What a head makes of one query: output_i = Σ_j a_ij v_j (Vaswani et al., 2017, equation 1).
struct FlowSum {
  Tensor weights;             // [L_k]: all of the row
  std::vector<FlowKey> keys;  // the farthest weight from 0 first
  Tensor query;               // [d_k], as it is compared; undefined where none is
  Tensor key_vectors;         // [keys, d_k]; likewise
  Tensor values, weighted;    // [keys, d_v]: v_j, and a_ij v_j
  Index others = 0;           // keys with a weight that are not among these ...
  double sink = 0;            // what the head's sink takes of the row
  double others_weight = 0;   // ... their weights ...
  Tensor others_sum;          // ... and what they add.  [d_v]
  Tensor places;              // [d_v]: what tables of distances add to the values; else undefined
  Tensor sum;                 // [d_v]: of all of these; undefined where values are
  Tensor output;              // [d_v]: the head's, as it was recorded
  bool adds_values = false;   // else values, others_sum, places and sum are undefined
  bool is_output = false;     // whether the sum is the output; else the variant does more with it
};

// The heads of a layer, for one query: side by side times W_o are what attention adds.
struct FlowHeads {
  Tensor outputs;         // [h, d_v]; undefined where heads differ in size
  Tensor adds;            // [h, d]: each head's share; undefined where nothing joins heads
  Tensor bias;            // [d]: what is added whatever the heads say; undefined where it is 0
  Tensor joined;          // [d]: of all, as it was recorded
  std::vector<bool> off;  // switched off by a person
};

// The token's vector, from before the layer to after it.
struct FlowLayer {
  enum class Join {
    Sum,     // `after` is the sum of all terms
    Normed,  // every sum is normed before the next
    Gated,   // gates decide how much of each passes
    Copied,  // the token has left before: `after` is `before`
    Off,     // a person has switched the layer off: likewise
  };
  Join join = Join::Sum;
  FlowTerm before;
  std::vector<FlowTerm> terms;  // what attention and feed-forward add; with Sum also what else does
  Tensor after;                 // [d]
};

// One of the states that a token passes, from the embedding to the last layer.
struct FlowState {
  std::string label;            // "embedding", "layer 3"
  std::optional<HeadRef> at{};  // head 0 of the layer; the embedding has none
  Tensor values;                // [d]
  std::string guess{};          // what it would say if it were the last; empty: not known
  double chance = 0;            // of the guess
  bool copied = false;          // from the state before: the token has left
};

struct FlowChance {
  std::string label;
  double chance = 0;
};

struct FlowNumbers {
  Index query = 0;   // row of the tap
  Index token = -1;  // of the stream that queries are of; -1: it is none of a text
  std::string label;
  FlowSum sum;
  FlowHeads heads;
  std::optional<FlowLayer> layer;   // nothing: the run kept none
  std::vector<FlowState> states;    // likewise
  std::vector<FlowChance> chances;  // of what comes next, the likeliest first; empty: none
};

// Which query it is: the pinned one, else the first token that is to be filled in, else the last.
Index flow_query(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// `keys`: at most so many of them, among them the pinned one. The tap must have an output.
FlowNumbers flow_numbers(const Trace& trace, const Findings& findings, const Experiment& experiment,
                         const AttentionTap& tap, Index head_in_group, Index keys);
// The sum alone. `also`: a column that is among the keys, however small its weight; -1: none.
FlowSum flow_sum(const Trace& trace, const AttentionTap& tap, Index head_in_group, Index query,
                 Index keys, Index also = -1);

// The heads alone; some may be switched off. The layer alone, of one token of the stream.
FlowHeads flow_heads(const Trace& trace, const Interventions& interventions,
                     const AttentionTap& tap, Index query);
std::optional<FlowLayer> flow_layer(const Trace& trace, const Interventions& interventions,
                                    const HeadRef& at, Index token);

}  // namespace attnscope
