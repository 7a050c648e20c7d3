// Loops over all cores.
#pragma once

#include <functional>

#include "core/base/index.h"

namespace attnscope {

int thread_count();            // what loops use; at first all that the process may use
void set_thread_count(int n);  // at least 1

// Numbers of an elementwise operation that are worth a thread.
inline constexpr Index kGrain = Index{1} << 14;

// Calls body(first, last) on disjoint ranges that cover [0, count), at most thread_count() at a
// time, each of at least `grain` items (except the last). What a body throws is thrown here when
// all have ended, and ranges that have not begun are left out. A call from within a body runs in
// the calling thread. Which ranges there are depends on nothing but the arguments and
// thread_count(), so that sums over ranges can be made repeatable.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

}  // namespace attnscope
