// Site: a layer of a stack, with the prefixes of its weights, taps and memory.
#pragma once

#include <string>
#include <vector>

#include "core/model/config.h"
#include "core/trace/address.h"

namespace attnscope {

// Two sites with the same prefix share their weights (Universal Transformer).
struct Site {
  std::string prefix;                              // "layers.3.", "encoder.layers.0."
  Address at;                                      // of its taps
  const std::vector<HeadGroup>* groups = nullptr;  // of its self-attention
  bool causal = true;
  // Prefix of taps and head groups of a layer that shares another layer's weights. Empty: same as
  // `prefix`.
  std::string own{};

  const std::string& own_prefix() const { return own.empty() ? prefix : own; }
};

// "layers.0.attention" in the taps, preceded by the step of a recurrence over depth.
inline std::string tap_prefix(const Site& site) {
  const std::string step =
      site.at.step > 0 ? "steps." + std::to_string(site.at.step) + "." : std::string();
  return step + site.own_prefix();
}

}  // namespace attnscope
