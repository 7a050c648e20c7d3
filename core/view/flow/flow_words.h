// Texts of the flow view: names of stages, sentences with numbers of the run, and related views.
#pragma once

#include <string>
#include <vector>

#include "core/view/flow/flow_layout.h"
#include "core/view/flow/flow_numbers.h"

namespace attnscope {

struct FlowStory {
  const Trace& trace;
  const Session& session;
  const AttentionTap& tap;
  const FlowNumbers& numbers;
};

std::string flow_title(FlowStage stage);
// Title of the values panel, which shares its stage with queries and keys.
inline constexpr const char* kFlowValues = "Values";

// One or two sentences about a stage in this run. If the model lacks the stage, they say so.
std::string flow_sentence(FlowStage stage, const FlowStory& story);

// Reason why the head compares no queries with keys; empty if it does.
std::string why_no_pair_scores(const AttentionTap& tap, const FlowSum& sum);
// Formula of scores and weights: "q·k / √32", "e^s / Σ".
std::string score_formula(const AttentionTap& tap);
std::string weight_formula(const AttentionTap& tap);
// Further processing of the sum of weighted values; empty if it is the output.
std::string after_the_sum(const AttentionTap& tap);

// View that a click on a stage opens: the first with content for the run; null if none.
const View* view_of_stage(FlowStage stage, const Trace& trace);

// "62%", "0.4%"; if not `is_share`: "-0.310".
std::string weight_words(double weight, bool is_share);
// True if the weights of the query sum to one.
bool weights_are_shares(const FlowSum& sum);

}  // namespace attnscope
