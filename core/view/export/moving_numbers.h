// Numbers that an animation can sweep: the view's parameters, its layer and head, the parameters of
// the head's variant and encoding, the length of the generated text, and the training step of a
// model with snapshots.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/experiment/session.h"
#include "core/trace/trace.h"

namespace attnscope {

struct MovingNumber {
  std::string key;          // "query", "layer", "step", "variant.window", "position.base", "tokens"
  std::string label;        // "Window (Local)"
  Parameter parameter;      // includes the valid range
  double from = 0, to = 1;  // default range
  // Sets the number in a session. Empty for "tokens": only a run can generate the text.
  std::function<void(Session&, const Value&)> set{};
  std::vector<Index> values{};  // the only values, in ascending order; empty: all of the parameter
  bool changes_heads = false;   // changes the heads' computation for every text
};

// Numbers that can be swept in this session, with distinct keys. `trace`: the session's run.
std::vector<MovingNumber> moving_numbers(const Session& session, const Trace& trace);

}  // namespace attnscope
