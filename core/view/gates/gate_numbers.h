// What the view of gates shows of a run, in numbers and words.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/gates.h"
#include "core/view/parts/refusal.h"

namespace attnscope {

using GateSets = std::vector<GateSet>;

// Why there is nothing to show; of the run, and of the shown stack.
Refusal gates_refusal(const Trace& trace);
Refusal gates_refusal(const GateSets& sets);

// Those of the shown stack, and its tokens.
std::shared_ptr<const GateSets> shown_gates(const ViewInput& input);
const std::vector<TraceToken>& gate_tokens(const ViewInput& input);

Index gate_rows(const GateSet& set);
std::string gate_number(double value);  // "0.25", "none"

// What the picture shows, for its caption.
std::string about_gates(const GateSets& sets);
// How far gates are open on average and where farthest, the longest first.
std::vector<std::string> gates_summary(const GateSets& sets, const std::vector<TraceToken>& tokens);
// "attention, layer 2, 0.13 ± 0.02 (0.08 to 0.19)": the gates of a token in this row.
std::string gate_words(const GateSet& set, Index row, Index token);

// Of each set the mean, and where there are components how they differ: rows by tokens.
ViewData gates_data(const ViewInput& input);

}  // namespace attnscope
