// A pair of tokens and its weight in large type, for the stage: the window in presentation mode,
// which has no side panels.
#pragma once

#include <optional>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Cached rows of weights; deriving or downloading them can be slow.
struct StagePairs {
  struct Row {
    std::shared_ptr<const Trace> trace;
    HeadRef ref{-1, -1};
    Index query = -1;
    Tensor weights;  // [1, L_k]
  };
  Row pinned, pointed;
};

struct PairLabels {
  std::string query, key, amount;  // "␣his", "␣sailor", "0.993"
};
// Returns nullopt if `hit` is not a pair.
std::optional<PairLabels> pair_labels(const State& state, const Hit& hit, StagePairs::Row& cache);

// Pinned pair with a visible cell.
struct PinnedPair {
  Hit hit;
  Point centre;  // centre of the pair's cell, in units of the layout
};
std::optional<PinnedPair> pinned_pair(const State& state, const ViewLayout& layout);

// Draws the pair under the pointer, or else the pinned pair, beside its cell and inside the
// picture. `origin`: position of the layout, in pixels.
void draw_stage_pair(Ui& ui, const State& state, const ViewLayout& layout, ImVec2 origin,
                     StagePairs& cache);

}  // namespace attnscope::window
