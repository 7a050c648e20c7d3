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
// Libraries that cannot get the little that they need end the program.
constexpr rlim_t kLeast = 1024 * kMega;
// Of the limit for each thread of a loop, which takes 8 MB of it for its stack.
constexpr rlim_t kOfThread = 128 * kMega;
// The allocator reserves 64 MB for each of these, and without this for each of a few threads.
constexpr int kArenas = 2;
constexpr int kMostRasterisers = 4;  // threads of Mesa's software rasteriser: else a processor each

}  // namespace

void fit_into_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (limit.rlim_cur < kLeast) {
    throw WorkError("memory: expected at least " + std::to_string(kLeast / kMega) +
                    " MB of addresses, found a limit of " + std::to_string(limit.rlim_cur / kMega) +
                    " MB (ulimit -v)");
  }
  ::mallopt(M_ARENA_MAX, kArenas);
  const auto threads = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / kOfThread, 1024));
  set_thread_count(std::min(thread_count(), threads));
  const std::string rasterisers = std::to_string(std::min(kMostRasterisers, thread_count()));
  ::setenv("LP_NUM_THREADS", rasterisers.c_str(), 0);
}

}  // namespace attnscope::command
