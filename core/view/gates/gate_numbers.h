// Numbers and descriptions of the gates view.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/gates.h"
#include "core/view/parts/refusal.h"

namespace attnscope {

using GateSets = std::vector<GateSet>;

// Reason why a run, or its selected stack, has no gates to show.
Refusal gates_refusal(const Trace& trace);
Refusal gates_refusal(const GateSets& sets);

// Gates of the selected stack, and its tokens.
std::shared_ptr<const GateSets> selected_gates(const ViewInput& input);
const std::vector<TraceToken>& gate_tokens(const ViewInput& input);

Index gate_rows(const GateSet& set);
std::string gate_number(double value);  // "0.25", "none"

std::string describe_gates(const GateSets& sets);
// Summaries of the mean and the maximum opening, longest first.
std::vector<std::string> gates_summary(const GateSets& sets, const std::vector<TraceToken>& tokens);
// "attention, layer 2, 0.13 ± 0.02 (0.08 to 0.19)": the gates of a token in this row.
std::string describe_token_gates(const GateSet& set, Index row, Index token);

// Matrices [rows, tokens] of each set: the mean over components. If there are
// several components, also their deviation, minimum and maximum.
ViewData gates_data(const ViewInput& input);

}  // namespace attnscope
