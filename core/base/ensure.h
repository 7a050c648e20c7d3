// Assertion of internal invariants: aborts in builds with tests (ATTNSCOPE_CHECKS), else no-op.
#pragma once

#include <cstdlib>

namespace attnscope {

inline void ensure([[maybe_unused]] bool holds) {
#ifdef ATTNSCOPE_CHECKS
  if (!holds) std::abort();
#endif
}

}  // namespace attnscope
