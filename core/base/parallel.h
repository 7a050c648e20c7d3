// Parallel loops over all cores.
#pragma once

#include <functional>

#include "core/base/index.h"

namespace attnscope {

// Threads per loop; initially ATTNSCOPE_THREADS in the environment, else usable_processors(). The
// first call throws InputError if that variable is not a number of threads.
int thread_count();
void set_thread_count(int n);  // at least 1

// Minimum number of elements per thread in an elementwise operation.
inline constexpr Index kGrain = Index{1} << 14;

// Calls body(first, last) on disjoint ranges that cover [0, count), on up to thread_count()
// threads. All ranges but the last have at least `grain` items. Rethrows the first exception of a
// body after all running bodies have ended; ranges that have not started are skipped. Bodies with
// slow items poll is_stopping() (stop.h). Nested calls run on the calling thread. Ranges depend
// only on arguments and thread_count(), so sums over ranges are reproducible.
void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body);

}  // namespace attnscope
