// The planes that RoPE turns, and how fast (Su et al., 2021; SPEC section 3).
#pragma once

#include <vector>

#include "core/base/parameter.h"

namespace attnscope {

struct RotaryPair {
  Index first = 0, second = 0;  // components of a head's vectors
  double frequency = 0;         // radians for each position, counter-clockwise
};

// values: of the encoding "rope". Components that are in no pair stay as they are. length: of the
// text, where frequencies hang on it; 0: no longer than those of training.
std::vector<RotaryPair> rotary_pairs(const Values& values, Index head_size, Index length = 0);

}  // namespace attnscope
