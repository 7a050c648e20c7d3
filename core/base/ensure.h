// Assertion of internal invariants. Aborts on failure in builds with tests (ATTNSCOPE_CHECKS);
// compiled out otherwise.
#pragma once

#include <cstdlib>

namespace attnscope {

inline void ensure([[maybe_unused]] bool holds) {
#ifdef ATTNSCOPE_CHECKS
  if (!holds) std::abort();
#endif
}

}  // namespace attnscope
