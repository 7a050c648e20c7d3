// Parallel loops over all cores.
#pragma once

#include <functional>

#include "core/base/index.h"

namespace attnscope {

int thread_count();            // threads per loop; initially usable_processors()
void set_thread_count(int n);  // at least 1

// Minimum elements per thread of an elementwise operation.
inline constexpr Index kGrain = Index{1} << 14;

// Calls body(first, last) on disjoint ranges that cover [0, count), at most thread_count() at a
// time, each of at least `grain` items (except the last). Rethrows the first exception of a body
// after all running bodies have ended; ranges that have not started are skipped. Bodies with slow
// items poll is_stopping() (stop.h) and return early. Nested calls run on the calling thread.
// Ranges depend only on the arguments and thread_count(), so sums over ranges are reproducible.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

}  // namespace attnscope
