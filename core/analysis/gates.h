// Gates of a run: the fraction of new information that each token accepts.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Gates of one kind; values in [0, 1].
struct GateSet {
  std::string id;     // "attention": name in exported files
  std::string title;  // "z of the residual gate after attention"
  std::string short_title;
  std::string closed, open;  // meaning of 0 and 1, in a few words
  struct Row {
    Index layer = -1, head = -1, step = -1, expert = -1;  // -1: not applicable
    std::string label() const;  // "layer 2", "step 1, layer 0", "layer 1, head 3", ""
  };
  std::vector<Row> rows;
  // Mean over components for each row and token; NaN: no gate.  [rows, L]
  Tensor mean;
  Tensor deviation{}, least{}, most{};  // statistics over components; undefined for scalar gates
  Index components = 1;
  bool untrained = false;  // the gate's weights are 0, so that all gates are 0.5

  double row_mean(Index row) const;  // mean over tokens with a gate; NaN if no token has one
  double overall_mean() const;       // over all rows and their tokens
};

// All gates of the run on the stack's tokens: gates of experts (Shazeer et al., 2017), GTrXL's z of
// each residual connection (Parisotto et al., 2019), memorizing's g (Wu et al., 2022), SPALM's g
// (Yogatama et al., 2021). Empty if the run has no gates.
std::vector<GateSet> gates_of(const Trace& trace, Stack stack);
bool has_gates(const Trace& trace);
// True if the gate of retrieval (SPALM) exists and is 0.5 everywhere.
bool retrieval_gate_is_untrained(const Trace& trace);

}  // namespace attnscope
