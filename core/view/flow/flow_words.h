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

// One or two sentences about a stage in this run, or about its absence from the model.
std::string flow_sentence(FlowStage stage, const FlowStory& story);

// Reason why the head has no pair scores; empty if it compares queries with keys.
std::string no_pair_scores_reason(const AttentionTap& tap, const FlowSum& sum);
// Formulas of scores and weights: "q·k / √32", "eˢ / Σ eˢ".
std::string score_formula(const AttentionTap& tap);
std::string weight_formula(const AttentionTap& tap);
// Sentence about the further processing of the sum of weighted values.
std::string describe_further_processing(const AttentionTap& tap);

// Name of the colour of positive numbers in vectors: "red".
std::string positive_colour_name(const Theme& theme);

// View that a click on a stage opens: the first related view with content; null if none.
const View* view_of_stage(FlowStage stage, const Trace& trace);

// Formats a weight: "62%", "0.4%"; without `as_percentage`: "-0.310".
std::string format_weight(double weight, bool as_percentage);
// True if the weights of the query sum to one.
bool weights_sum_to_one(const FlowSum& sum);

}  // namespace attnscope
