// Generators that time single tokens.
#pragma once

#include "core/model/generate.h"

namespace attnscope {

// A copy of `generator` after one more token. That token gives the copy's cache its own memory,
// with room for the following ones, as during generation.
inline Generator continued_copy(const Generator& generator) {
  Generator copy = generator;
  copy.step({7});
  return copy;
}

}  // namespace attnscope
