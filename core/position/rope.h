// Rotation planes and frequencies of RoPE (Su et al., 2021; spec.md, section 3).
#pragma once

#include <vector>

#include "core/base/parameter.h"

namespace attnscope {

struct RotaryPair {
  Index first = 0, second = 0;  // components of a head's vectors
  double frequency = 0;         // radians per position, counter-clockwise
};

// Pairs of components rotated by the encoding "rope" with these values; components in no pair are
// unchanged. length: tokens of the text, for frequencies that depend on it; 0: within the
// original context.
std::vector<RotaryPair> rotary_pairs(const Values& values, Index head_size, Index length = 0);

}  // namespace attnscope
