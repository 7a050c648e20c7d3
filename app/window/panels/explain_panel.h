// Why the picture looks as it does: the pair under the pointer, its row, and what the variant and
// the encoding compute.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/analysis/statistics.h"

namespace attnscope::window {

// The weights of the query under the pointer, kept because they may have to be derived or
// downloaded, and those of its word where the picture shows words. Made by the program, filled by
// the panel.
struct RowWeights {
  struct Row {
    std::shared_ptr<const Trace> trace;
    HeadRef at{-1, -1};
    Index query = -1;
    Tensor weights;  // [1, L_k]
  };
  Row token, word;
  struct Head {
    std::shared_ptr<const Trace> trace;
    HeadRef at{-1, -1};
    HeadStatistics statistics;
  };
  Head head;
};

void draw_explain_panel(Ui& ui, State& state, RowWeights& weights);

}  // namespace attnscope::window
