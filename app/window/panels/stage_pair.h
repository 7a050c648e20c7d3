// On stage, where there is no panel to read from: a pair and its weight in large type.
#pragma once

#include <optional>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Rows of weights that may have to be derived or downloaded, kept from frame to frame.
struct StagePairs {
  struct Row {
    std::shared_ptr<const Trace> trace;
    HeadRef at{-1, -1};
    Index query = -1;
    Tensor weights;  // [1, L_k]
  };
  Row pinned, pointed;
};

// A pair as the audience reads it.
struct PairWords {
  std::string query, key, amount;  // "␣his", "␣sailor", "0.993"
};
// Of what the picture has at a place; nothing where that is no pair.
std::optional<PairWords> pair_words(const State& state, const Hit& hit, StagePairs::Row& kept);

// The pinned pair where the picture has its cell in sight.
struct PinnedPair {
  Hit hit;
  Point at;  // the cell's middle, in units of the layout
};
std::optional<PinnedPair> pinned_pair(const State& state, const ViewLayout& layout);

// The pair under the pointer beside it; without one the pinned pair beside its cell. Over the
// picture and within it. The layout's origin: pixels.
void draw_stage_pair(Ui& ui, const State& state, const ViewLayout& layout, ImVec2 origin,
                     StagePairs& kept);

}  // namespace attnscope::window
