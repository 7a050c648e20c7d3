// What the view Flow says in words: of each stage a name, a sentence with numbers of this run, and
// where it is shown on its own.
#pragma once

#include <string>
#include <vector>

#include "core/view/flow/flow_numbers.h"
#include "core/view/flow/flow_places.h"

namespace attnscope {

struct FlowStory {
  const Trace& trace;
  const Experiment& experiment;
  const AttentionTap& tap;
  const FlowNumbers& numbers;
};

std::string flow_title(FlowStage stage);
// The same of the panel of values, which shares its stage with that of queries and keys.
inline constexpr const char* kFlowValues = "Values";

// One or two sentences in plain words. A stage that this model has not says what there is instead.
std::string flow_sentence(FlowStage stage, const FlowStory& story);

// Why no query is compared with a key here; empty: they are.
std::string why_no_pair_scores(const AttentionTap& tap, const FlowSum& sum);
// How a score and a weight are made, as a formula: "q·k / √32", "e^s / Σ".
std::string score_formula(const AttentionTap& tap);
std::string weight_formula(const AttentionTap& tap);
// What the variant does with the sum of weighted values, where that is not its output.
std::string after_the_sum(const AttentionTap& tap);

// What a click on a stage opens: the first of these views that has something to say of the run;
// null: none.
const View* view_of_stage(FlowStage stage, const Trace& trace);

// "62 %", "0.4 %", of signed weights "-0.31".
std::string weight_words(double weight, bool is_share);
// Whether the weights of the query are shares of one.
bool weights_are_shares(const FlowSum& sum);

}  // namespace attnscope
