#include "core/base/parallel.h"

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/background.h"
#include "core/base/error.h"
#include "core/base/processors.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// More ranges than threads, so that a delayed thread does not delay the whole loop.
constexpr Index kRangesPerThread = 4;
// Maximum grains per range (about 10 ms), because cancellation is checked between ranges.
constexpr Index kMaxGrains = 256;
// Waking a sleeping thread takes as long as a small loop. A waiting thread therefore spins for
// about ten microseconds, then yields its processor to other threads for kYieldTime, then sleeps.
constexpr int kSpins = 300;
constexpr std::chrono::microseconds kYieldTime{200};

constexpr int kMaxConfiguredThreads = 1024;

int initial_thread_count() {
  const char* text = std::getenv("ATTNSCOPE_THREADS");
  if (text == nullptr || *text == '\0') return usable_processors();
  const char* end = text + std::strlen(text);
  int count = 0;
  const auto [rest, error] = std::from_chars(text, end, count);
  if (error != std::errc() || rest != end || count < 1 || count > kMaxConfiguredThreads) {
    throw InputError("ATTNSCOPE_THREADS: expected 1 to " + std::to_string(kMaxConfiguredThreads) +
                     " threads, found \"" + std::string(text) + "\"");
  }
  return count;
}

std::atomic<int>& threads() {
  static std::atomic<int> count(initial_thread_count());
  return count;
}

thread_local bool in_loop = false;
thread_local bool is_in_background = false;

void lower_priority() {
#ifdef __linux__
  constexpr int kNiceness = 10;
  setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNiceness);
#endif
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Blocks until `number` differs from `old_number`.
void wait_while(const std::atomic<int>& number, int old_number) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (number.load(std::memory_order_acquire) != old_number) return;
    pause();
  }
  const auto deadline = std::chrono::steady_clock::now() + kYieldTime;
  do {
    if (number.load(std::memory_order_acquire) != old_number) return;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < deadline);
  number.wait(old_number, std::memory_order_acquire);
}

// One parallel loop. Each thread first runs its own share of neighbouring ranges and then helps
// with the shares of other threads. Shares are similar in successive loops, for cache locality.
class Loop {
 public:
  Loop(const std::function<void(Index, Index)>& body, Index count, Index step, Index ranges,
       Index threads, const Stop& stop)
      : body_(body),
        count_(count),
        step_(step),
        stop_(stop),
        shares_(static_cast<std::size_t>(threads)) {
    for (Index t = 0; t < threads; ++t) {
      Share& share = shares_[static_cast<std::size_t>(t)];
      share.next.store(ranges * t / threads, std::memory_order_relaxed);
      share.end = ranges * (t + 1) / threads;
    }
  }

  void run_ranges(int thread) {
    in_loop = true;
    const StopScope scope(stop_);  // makes is_stopping() work on helper threads
    const std::size_t first_share = static_cast<std::size_t>(thread);
    for (std::size_t t = 0; t < shares_.size(); ++t) {
      Share& share = shares_[(first_share + t) % shares_.size()];
      for (;;) {
        const Index range = share.next.fetch_add(1, std::memory_order_relaxed);
        if (range >= share.end) break;
        if (has_failed_.load(std::memory_order_relaxed)) break;
        if (stop_.requested()) break;
        try {
          body_(range * step_, std::min(count_, (range + 1) * step_));
        } catch (...) {  // std::bad_alloc, for example
          if (!has_failed_.exchange(true)) failure_ = std::current_exception();
        }
      }
    }
    in_loop = false;
  }

  // Call after all threads have finished.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  struct alignas(64) Share {  // one cache line per share
    std::atomic<Index> next{0};
    Index end = 0;
  };
  const std::function<void(Index, Index)>& body_;
  Index count_, step_;  // number of items; items per range
  const Stop stop_;
  std::vector<Share> shares_;
  std::atomic<bool> has_failed_{false};
  std::exception_ptr failure_;  // first exception of a body
};

// Helper threads, used by one loop at a time.
class Helpers {
 public:
  explicit Helpers(bool in_background) : in_background_(in_background) {}
  ~Helpers() {
    is_ending_.store(true);
    announce();
    for (std::thread& helper : helpers_) helper.join();
  }

  // Returns false if another thread's loop is using the helpers.
  bool run(Loop& loop, int helper_count) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    add_helpers(helper_count);
    {
      const std::scoped_lock lock(mutex_);
      loop_ = &loop;
      loop_helpers_ = helper_count;
    }
    announce();
    loop.run_ranges(0);
    {
      const std::scoped_lock lock(mutex_);
      loop_ = nullptr;  // helpers that have not joined yet are not awaited
    }
    for (int busy = busy_helpers_.load(); busy != 0; busy = busy_helpers_.load()) {
      wait_while(busy_helpers_, busy);
    }
    return true;
  }

 private:
  // Continues with fewer helpers if the system cannot create more threads.
  void add_helpers(int count) {
    try {
      helpers_.reserve(static_cast<std::size_t>(count));
      while (static_cast<int>(helpers_.size()) < count) {
        helpers_.emplace_back([this, helper = static_cast<int>(helpers_.size())] { help(helper); });
      }
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }

  void announce() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void help(int helper) {
    if (in_background_) lower_priority();
    for (int last_round = 0; !is_ending_.load();) {
      wait_while(round_, last_round);
      last_round = round_.load(std::memory_order_acquire);
      Loop* loop = nullptr;
      {
        const std::scoped_lock lock(mutex_);
        if (loop_ != nullptr && helper < loop_helpers_) {
          loop = loop_;
          busy_helpers_.fetch_add(1);
        }
      }
      if (loop == nullptr) continue;
      loop->run_ranges(helper + 1);
      busy_helpers_.fetch_sub(1);
      busy_helpers_.notify_all();
    }
  }

  const bool in_background_;
  std::mutex owner_;  // locked by the thread whose loop runs
  std::vector<std::thread> helpers_;
  std::atomic<int> round_{0};         // incremented for every loop
  std::atomic<int> busy_helpers_{0};  // helpers working on the loop
  std::atomic<bool> is_ending_{false};
  std::mutex mutex_;  // guards loop_ and loop_helpers_
  Loop* loop_ = nullptr;
  int loop_helpers_ = 0;
};

}  // namespace

int thread_count() {
  return threads().load(std::memory_order_relaxed);
}

void set_thread_count(int n) {
  threads().store(std::max(1, n), std::memory_order_relaxed);
}

void parallel_for(Index count, Index grain, const std::function<void(Index, Index)>& body) {
  if (count <= 0) return;
  const int max_threads = thread_count();
  const Index target = kRangesPerThread * max_threads;
  const Index min_step = std::max(Index{1}, grain);
  const Index step = std::clamp((count + target - 1) / target, min_step, kMaxGrains * min_step);
  const Index ranges = (count + step - 1) / step;
  if (ranges > 1 && max_threads > 1 && !in_loop) {
    static Helpers foreground(false), background(true);
    Helpers& helpers = is_in_background ? background : foreground;
    const Index loop_threads = std::min<Index>(ranges, max_threads);
    Loop loop(body, count, step, ranges, loop_threads, current_stop());
    if (helpers.run(loop, static_cast<int>(loop_threads) - 1)) {
      loop.rethrow();
      check_stop();
      return;
    }
  }
  for (Index first = 0; first < count; first += step) {
    check_stop();
    body(first, std::min(count, first + step));
  }
  check_stop();  // the last body may have returned early
}

void work_in_background() {
  is_in_background = true;
  lower_priority();
}

bool in_parallel_for() {
  return in_loop;
}

}  // namespace attnscope
