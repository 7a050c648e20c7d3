// Explanations on the right: the pair under the pointer, its row, variant and encoding.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/analysis/statistics.h"

namespace attnscope::window {

// Cached data of the pair under the pointer: the weights of the query's row, the weights of the row
// of the query's word (if words are merged), and the head's statistics. Deriving or downloading
// weights can be slow.
struct PairCache {
  struct Row {
    std::shared_ptr<const Trace> trace;
    HeadRef ref{-1, -1};
    Index query = -1;
    Tensor weights;  // [1, L_k]
  };
  Row token, word;
  struct Head {
    std::shared_ptr<const Trace> trace;
    HeadRef ref{-1, -1};
    HeadStatistics statistics;
    HeadBaseline baseline;
  };
  Head head;
};

void draw_explain_panel(Ui& ui, State& state, PairCache& weights);

}  // namespace attnscope::window
