// What must hold whatever comes in. Where the project is built with its tests, the program ends if
// it does not, rather than that it goes on with numbers that are no part of an array.
#pragma once

#include <cstdlib>

namespace attnscope {

inline void ensure([[maybe_unused]] bool holds) {
#ifdef ATTNSCOPE_CHECKS
  if (!holds) std::abort();
#endif
}

}  // namespace attnscope
