// How the method of one head works, told from what it left in the trace. One file a mechanism;
// mechanisms() is their ordered list.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/view/parts/focus.h"
#include "core/view/parts/page.h"

namespace attnscope {

// The head whose method is shown.
struct MechanismOf {
  const ViewInput& input;
  const AttentionTap& tap;
  Index head = 0;  // within the tap's group
};

// What is made from the head's numbers, kept in the window's cache where there is one. `name`: of
// what is made, without the head.
Tensor kept(const MechanismOf& of, const std::string& name, const std::function<Tensor()>& make);

// What was drawn.
struct MechanismLayout {
  double bottom = 0;      // where it ends
  bool no_space = false;  // nothing was: the box is too small
  // The pair at a point of the page; query or key may be -1. May outlive the input; empty: none
  // anywhere.
  std::function<std::optional<Pair>(Point)> pair_at{};
  std::string pending{};          // see ViewLayout
  std::vector<Handle> handles{};  // what can be clicked
  std::string refusal{};          // why there is no picture; empty: there is
};

struct Mechanism {
  std::string id;     // "lsh": what the view's "picture" chooses
  std::string about;  // what the picture tells, for captions: "hashing into buckets, ..."
  // Whether the trace holds what this mechanism tells of.
  std::function<bool(const AttentionTap&)> fits;
  std::function<MechanismLayout(Page&, const Box&, const MechanismOf&)> draw;
  // The numbers behind the picture.
  std::function<std::vector<ViewData::Matrix>(const MechanismOf&)> data;
  std::vector<std::string> parameters{};  // of the view, by key: those that change it
  bool weights = false;                   // some are shown, in the colours that were chosen
  bool to_largest = false;                // ... which reach to the largest one always
  std::string label{};                    // "Buckets": where pictures are chosen
  // Whether this is what tells most of it, where several fit. Empty: never.
  std::function<bool(const AttentionTap&)> leads{};
  // Why it does not fit, in a sentence. Empty: it tells of other methods.
  std::function<std::string(const AttentionTap&)> objection{};
};

const std::vector<Mechanism>& mechanisms();
// The picture that is shown where none is chosen: of those that fit the first that leads, else the
// first.
const Mechanism& mechanism_of(const AttentionTap& tap);

}  // namespace attnscope
