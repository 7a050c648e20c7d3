// Runs compared by the Intervene view, and the numbers that it exports.
#pragma once

#include <string>

#include "core/view/parts/describe.h"

namespace attnscope {

// The runs without and with interventions; if a reference run B is set, it replaces the first.
struct TwoRuns {
  explicit TwoRuns(const ViewInput& input);

  const Trace& before;
  const Trace& after;
  bool compared;                   // `before` is B
  bool pending;                    // B is being computed: `before` is meaningless
  const ViewSettings& first_view;  // layer and head of the first run
  std::string first, second;       // labels: "before", "after"
  SelectedTap first_head, second_head;
};

// Attention, next-token probabilities and perplexity of both runs.
ViewData intervene_data(const ViewInput& input);

}  // namespace attnscope
