// One place of a model: the name under which its weights, taps and memory are found.
#pragma once

#include <string>
#include <vector>

#include "core/model/config.h"
#include "core/trace/address.h"

namespace attnscope {

// A layer of a stack. Two sites with one prefix share their weights (Universal Transformer).
struct Site {
  std::string prefix;                              // "layers.3.", "encoder.layers.0."
  Address at;                                      // the group is that of a tap
  const std::vector<HeadGroup>* groups = nullptr;  // of its self-attention
  bool causal = true;
  // Of taps and of what head groups have, where it is not the weights' prefix: layers that share
  // the weights of others. Empty: that.
  std::string own{};

  const std::string& place() const { return own.empty() ? prefix : own; }
};

// "layers.0.attention" in the taps; a step of a recurrence over depth comes before that.
inline std::string tap_prefix(const Site& site) {
  const std::string step =
      site.at.step > 0 ? "steps." + std::to_string(site.at.step) + "." : std::string();
  return step + site.place();
}

}  // namespace attnscope
