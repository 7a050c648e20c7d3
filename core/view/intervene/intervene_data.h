// What the view of interventions sets beside each other, and its numbers.
#pragma once

#include <string>

#include "core/view/parts/describe.h"

namespace attnscope {

// The run without a person's changes and the run with them; while something is compared with, what
// that is (B) stands in place of the first.
struct TwoRuns {
  explicit TwoRuns(const ViewInput& input);

  const Trace& before;
  const Trace& after;
  bool compared;                   // `before` is B
  bool pending;                    // which is not there yet: `before` stands for nothing
  const ViewSettings& first_view;  // whose layer and head the first is seen at
  std::string first, second;       // what they are called: "before", "after"
  Found first_head, second_head;
};

// Attention, the next token's probabilities and how well the tokens were foreseen, of both runs.
ViewData intervene_data(const ViewInput& input);

}  // namespace attnscope
