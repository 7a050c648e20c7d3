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

constexpr rlim_t kMegabyte = rlim_t{1} << 20;
// Minimum accepted limit. Under a lower limit, libraries abort the program.
constexpr rlim_t kMinLimit = 1024 * kMegabyte;
// Address space reserved per loop thread, including its stack of 8 MB.
constexpr rlim_t kBytesPerThread = 128 * kMegabyte;
// Maximum number of malloc arenas (64 MB each); the default grows with the number of threads.
constexpr int kMaxArenas = 2;
constexpr int kMaxRasteriserThreads = 4;  // Mesa's default is one thread per core

}  // namespace

void fit_into_address_space() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  if (limit.rlim_cur < kMinLimit) {
    throw WorkError("memory: expected at least " + std::to_string(kMinLimit / kMegabyte) +
                    " MB of address space, found a limit of " +
                    std::to_string(limit.rlim_cur / kMegabyte) + " MB (ulimit -v)");
  }
  ::mallopt(M_ARENA_MAX, kMaxArenas);
  const auto threads = static_cast<int>(std::min<rlim_t>(limit.rlim_cur / kBytesPerThread, 1024));
  set_thread_count(std::min(thread_count(), threads));
  const std::string gl_threads = std::to_string(std::min(kMaxRasteriserThreads, thread_count()));
  ::setenv("LP_NUM_THREADS", gl_threads.c_str(), 0);
}

}  // namespace attnscope::command
