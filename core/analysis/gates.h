// Gates of a run, whatever they are of: how much of what is new each token lets in.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Gates of one kind, all between 0 and 1.
struct GateSet {
  std::string id;     // "attention": in exported numbers
  std::string title;  // "z of the attention's join"
  std::string short_title;
  std::string closed, open;  // what 0 and 1 mean, in a few words
  struct Row {
    Index layer = -1, head = -1, step = -1, expert = -1;  // -1: it has none
    std::string label() const;  // "layer 2", "step 1, layer 0", "layer 1, head 3", ""
  };
  std::vector<Row> rows;
  // Of each row and token the mean over components; NaN: there is no gate.  [rows, L]
  Tensor mean;
  Tensor deviation{}, least{}, most{};  // over components; undefined: one number a token
  Index components = 1;
  bool untrained = false;  // its weights are 0, which leaves it in the middle everywhere

  double row_mean(Index row) const;  // over tokens that have a gate; NaN: none has
  double all_mean() const;           // the same over all rows
};

// The gates of experts (Shazeer et al., 2017), GTrXL's z of each join (Parisotto et al., 2019),
// memorizing's g (Wu et al., 2022), SPALM's g (Yogatama et al., 2021): those that the run has, of
// the stack's tokens. Empty: none.
std::vector<GateSet> gates_of(const Trace& trace, Stack stack);
bool has_gates(const Trace& trace);
// Of retrieval's (SPALM), where there is one: all in the middle.
bool retrieval_gate_is_untrained(const Trace& trace);

}  // namespace attnscope
