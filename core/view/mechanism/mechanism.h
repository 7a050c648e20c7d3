// Mechanism view: illustrations of attention variants, drawn from the trace. One file per
// mechanism; mechanisms() is their ordered list.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/view/parts/focus.h"
#include "core/view/parts/page.h"

namespace attnscope {

// The illustrated head.
struct MechanismOf {
  const ViewInput& input;
  const AttentionTap& tap;
  Index head = 0;  // within the tap's group
};

// Result derived from the head's numbers, cached if the window has a cache. `key` identifies the
// result within the head.
Tensor cached_numbers(const MechanismOf& of, const CacheKey& key,
                      const std::function<Tensor()>& make);

// Result of drawing a mechanism.
struct MechanismLayout {
  double bottom = 0;      // lower edge
  bool no_space = false;  // the box is too small: nothing was drawn
  // Pair at a point of the page; query or key may be -1. May outlive the input; empty: no hit test.
  std::function<std::optional<Pair>(Point)> pair_at{};
  std::string pending{};          // see ViewLayout
  std::vector<Handle> handles{};  // click targets
  std::string refusal{};          // why there is no picture; empty: there is
};

struct Mechanism {
  std::string id;     // "lsh": value of the view's parameter "picture"
  std::string about;  // content of the picture, for captions: "hashing into buckets, ..."
  // True if the trace has the data of this mechanism.
  std::function<bool(const AttentionTap&)> fits;
  std::function<MechanismLayout(Page&, const Box&, const MechanismOf&)> draw;
  // Exported numbers.
  std::function<std::vector<ViewData::Matrix>(const MechanismOf&)> data;
  std::vector<std::string> parameters{};  // keys of the view's parameters that affect it
  bool weights = false;                   // shows weights in the selected colours
  bool to_largest = false;                // ... which always end at the largest
  std::string label{};                    // "Buckets": in the list of pictures
  // True if this is the most illustrative picture among several that fit. Empty: never.
  std::function<bool(const AttentionTap&)> leads{};
  bool plays = false;  // "play" steps through the tokens
  // The finding that it reads, requested while it is the selected picture.
  std::optional<ViewFinding> finding{};
  // Reason why it does not fit, one sentence. Empty: it illustrates other methods.
  std::function<std::string(const AttentionTap&)> objection{};
};

const std::vector<Mechanism>& mechanisms();
// Default picture: the first leading one that fits, else the first that fits.
const Mechanism& mechanism_of(const AttentionTap& tap);

}  // namespace attnscope
