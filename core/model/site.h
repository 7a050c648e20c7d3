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
  Address address;                                 // address of the site's taps
  const std::vector<HeadGroup>* groups = nullptr;  // head groups of the layer's self-attention
  bool causal = true;
  // Prefix of the taps and head groups of a layer that shares another layer's weights; empty:
  // `prefix`.
  std::string private_prefix{};

  const std::string& own_prefix() const { return private_prefix.empty() ? prefix : private_prefix; }
};

// Prefix of the site's taps: "layers.0.", or "steps.2.layers.0." in a recurrence over depth.
inline std::string tap_prefix(const Site& site) {
  const std::string step =
      site.address.step > 0 ? "steps." + std::to_string(site.address.step) + "." : std::string();
  return step + site.own_prefix();
}

}  // namespace attnscope
