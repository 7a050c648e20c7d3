#include "core/base/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>

namespace attnscope {
namespace {

// More ranges than threads, so that a thread that is held up does not hold up the rest.
constexpr Index kRangesPerThread = 4;

std::atomic<int>& threads() {
  static std::atomic<int> count(std::max(1, omp_get_num_procs()));
  return count;
}

}  // namespace

int thread_count() {
  return threads().load(std::memory_order_relaxed);
}

void set_thread_count(int n) {
  threads().store(std::max(1, n), std::memory_order_relaxed);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  if (count <= 0) return;
  const Index most = kRangesPerThread * thread_count();
  const Index step = std::max({Index{1}, grain, (count + most - 1) / most});
  const Index ranges = (count + step - 1) / step;
  if (ranges == 1 || thread_count() == 1 || omp_in_parallel()) {
    for (Index first = 0; first < count; first += step) body(first, std::min(count, first + step));
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(thread_count())
  for (Index range = 0; range < ranges; ++range) {
    body(range * step, std::min(count, (range + 1) * step));
  }
}

}  // namespace attnscope
