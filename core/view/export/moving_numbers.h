// Numbers that an animation can sweep: the view's parameters, its layer and head, the parameters of
// the head's variant and encoding, and the length of the generated text.
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
  // Sets the number in a session. Empty for "tokens", whose text only running the model reveals.
  std::function<void(Session&, const Value&)> set{};
  bool changes_heads = false;  // affects the heads' computation on any text
};

// Numbers that can be swept in this session; `trace`: its run. No duplicate keys.
std::vector<MovingNumber> moving_numbers(const Session& session, const Trace& trace);

}  // namespace attnscope
