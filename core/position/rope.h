// Rotation planes and frequencies of RoPE (Su et al., 2021; spec.md, section 3).
#pragma once

#include <vector>

#include "core/base/parameter.h"

namespace attnscope {

struct RotaryPair {
  Index first = 0, second = 0;  // components of a head's vectors
  double frequency = 0;         // radians per position, counter-clockwise
  bool operator==(const RotaryPair&) const = default;
};

// Pairs of components that the encoding "rope" rotates; all other components are unchanged.
// `length`: number of tokens, for frequencies that depend on it; 0: at most the original context.
std::vector<RotaryPair> rotary_pairs(const Values& values, Index head_size, Index length = 0);

}  // namespace attnscope
