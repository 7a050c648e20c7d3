#include "app/window/memory_trim.h"

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

namespace attnscope::window {

void use_one_arena() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 1);
#endif
}

void MemoryTrim::request(double seconds) {
  due_ = seconds + kDelay;
}

void MemoryTrim::trim_if_due(double seconds) {
  if (due_ < 0 || seconds < due_) return;
  due_ = -1;
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace attnscope::window
