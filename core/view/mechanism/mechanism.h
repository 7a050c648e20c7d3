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
struct HeadInput {
  const ViewInput& input;
  const AttentionTap& tap;
  Index head = 0;  // index within the tap's group
};

// Result of `compute` for the head, cached if the input has a cache. `key` distinguishes the
// results of one head.
Tensor cached_numbers(const HeadInput& in, const CacheKey& key,
                      const std::function<Tensor()>& compute);

// Result of drawing a mechanism.
struct MechanismLayout {
  double bottom = 0;          // lower edge
  bool is_too_small = false;  // the box is too small: nothing was drawn
  // Pair at a point; query or key may be -1. May outlive the input. Empty function: no hit test.
  std::function<std::optional<Pair>(Point)> pair_at{};
  std::string pending{};          // see ViewLayout::pending
  std::vector<Handle> handles{};  // click targets
  std::string refusal{};          // reason for a missing picture; else empty
};

struct Mechanism {
  std::string id;       // "lsh": value of the view's parameter "picture"
  std::string content;  // content of the picture, for captions: "hashing into buckets, ..."
  // True if the trace has the data of this mechanism.
  std::function<bool(const AttentionTap&)> fits;
  std::function<MechanismLayout(Page&, const Box&, const HeadInput&)> draw;
  // Exported numbers.
  std::function<std::vector<ViewData::Matrix>(const HeadInput&)> data;
  std::vector<std::string> parameters{};  // keys of the view's parameters that affect the picture
  bool shows_weights = false;             // weights are drawn in the selected colours
  bool scales_to_largest = false;         // the colour scale always ends at the largest weight
  std::string label{};                    // "Buckets": in the list of pictures
  // True if this picture is preferred to others that fit. Empty function: never.
  std::function<bool(const AttentionTap&)> is_preferred{};
  bool steps_through_tokens = false;  // "play" steps through the tokens
  // Animation of the picture, unless it steps through the tokens. Empty function: none.
  std::function<std::optional<Animation>(const AttentionTap&, const ViewSettings&)> animation{};
  // Finding that the picture reads, requested while the picture is selected.
  std::optional<ViewFinding> finding{};
  // Explains in one sentence why the picture does not fit. Empty function: a default sentence.
  std::function<std::string(const AttentionTap&)> objection{};
};

const std::vector<Mechanism>& mechanisms();
// Default picture: the first preferred picture that fits, else the first picture that fits.
const Mechanism& default_mechanism(const AttentionTap& tap);

}  // namespace attnscope
