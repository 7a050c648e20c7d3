#include "app/command/address_space.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace attnscope::command {
namespace {

constexpr rlim_t kMega = rlim_t{1} << 20;
// Minimum limit: below it, libraries abort the program.
constexpr rlim_t kMinLimit = 1024 * kMega;
// Share of the limit per loop thread, which uses 8 MB of it for its stack.
constexpr rlim_t kPerThread = 128 * kMega;
// Allocator arenas, of 64 MB each; by default there is one per few threads.
constexpr int kArenas = 2;
constexpr int kMaxRasterisers = 4;  // threads of Mesa's software rasteriser; default: one per core

}  // namespace

void fit_into_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (limit.rlim_cur < kMinLimit) {
    throw WorkError("memory: expected at least " + std::to_string(kMinLimit / kMega) +
                    " MB of address space, found a limit of " +
                    std::to_string(limit.rlim_cur / kMega) + " MB (ulimit -v)");
  }
  ::mallopt(M_ARENA_MAX, kArenas);
  const auto threads = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / kPerThread, 1024));
  set_thread_count(std::min(thread_count(), threads));
  const std::string rasterisers = std::to_string(std::min(kMaxRasterisers, thread_count()));
  ::setenv("LP_NUM_THREADS", rasterisers.c_str(), 0);
}

}  // namespace attnscope::command
