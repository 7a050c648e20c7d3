// What can move in a moving picture: the view's own numbers, the layer and the head that it shows,
// the numbers of the head's variant and encoding, and how far the model has gone on with the text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/trace/trace.h"

namespace attnscope {

struct MovingNumber {
  std::string key;          // "query", "layer", "step", "variant.window", "position.base", "tokens"
  std::string label;        // "Window (Local)"
  Parameter parameter;      // what it may be
  double from = 0, to = 1;  // what is offered
  // Empty for tokens: what the model writes is known only after running it.
  std::function<void(Experiment&, const Value&)> set{};
  bool changes_heads = false;  // what heads do with any text changes with it
};

// All there are for the experiment, of which `trace` is a run; none of them twice.
std::vector<MovingNumber> moving_numbers(const Experiment& experiment, const Trace& trace);

}  // namespace attnscope
