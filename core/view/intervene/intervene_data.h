// Runs compared by the Intervene view, their description and their numbers.
#pragma once

#include <string>

#include "core/view/parts/describe.h"

namespace attnscope {

// First run: B if there is one, else without interventions. Second run: with interventions.
struct TwoRuns {
  explicit TwoRuns(const ViewInput& input);

  const Trace& first_run;
  const Trace& second_run;
  bool has_run_b;                         // `first_run` is B
  bool is_pending;                        // B is being computed: do not use `first_run`
  const ViewSettings& first_view;         // layer and head of the first run
  std::string first_label, second_label;  // "before", "after"
  SelectedTap first_tap, second_tap;
};

// Caption: the heads of both runs, and the changes.
std::string intervene_caption(const ViewInput& input, const TwoRuns& runs);

// Attention, next-token probabilities and perplexity of both runs.
ViewData intervene_data(const ViewInput& input);

}  // namespace attnscope
