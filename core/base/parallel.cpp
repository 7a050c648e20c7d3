#include "core/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace attnscope {
namespace {

// More ranges than threads, so that a thread that is held up does not hold up the rest.
constexpr Index kRangesPerThread = 4;
// How long a helper looks for more work before it sleeps: some ten microseconds, as long as waking
// it would take. OpenMP's threads look for milliseconds, which on a machine with other work takes
// the processor from the very thread that they wait for.
constexpr int kLooks = 300;

std::atomic<int>& threads() {
  static std::atomic<int> count(
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  return count;
}

thread_local bool in_loop = false;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Returns when `number` is no longer `old`.
void wait_while(const std::atomic<int>& number, int old) {
  for (int look = 0; look < kLooks; ++look) {
    if (number.load(std::memory_order_acquire) != old) return;
    pause();
  }
  number.wait(old, std::memory_order_acquire);
}

// One loop: whoever takes part takes the next range until there is none.
struct Loop {
  const std::function<void(Index, Index)>& body;
  Index count, step;
  std::atomic<Index> next{0};

  void take_part() {
    in_loop = true;
    for (;;) {
      const Index first = next.fetch_add(step, std::memory_order_relaxed);
      if (first >= count) break;
      body(first, std::min(count, first + step));
    }
    in_loop = false;
  }
};

// Helper threads for one loop at a time.
class Helpers {
 public:
  ~Helpers() {
    ending_.store(true);
    announce();
    for (std::thread& helper : helpers_) helper.join();
  }

  // False when another thread's loop has the helpers.
  bool run(Loop& loop, int helpers) {
    const std::unique_lock owner(owner_, std::try_to_lock);
    if (!owner) return false;
    while (static_cast<int>(helpers_.size()) < helpers) {
      helpers_.emplace_back([this, number = static_cast<int>(helpers_.size())] { help(number); });
    }
    {
      const std::scoped_lock lock(mutex_);
      loop_ = &loop;
      wanted_ = helpers;
    }
    announce();
    loop.take_part();
    {
      const std::scoped_lock lock(mutex_);
      loop_ = nullptr;  // a helper that has not begun by now is not waited for
    }
    for (int inside = inside_.load(); inside != 0; inside = inside_.load()) {
      wait_while(inside_, inside);
    }
    return true;
  }

 private:
  void announce() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }

  void help(int number) {
    for (int seen = 0; !ending_.load();) {
      wait_while(round_, seen);
      seen = round_.load(std::memory_order_acquire);
      Loop* loop = nullptr;
      {
        const std::scoped_lock lock(mutex_);
        if (loop_ != nullptr && number < wanted_) {
          loop = loop_;
          inside_.fetch_add(1);
        }
      }
      if (loop == nullptr) continue;
      loop->take_part();
      inside_.fetch_sub(1);
      inside_.notify_all();
    }
  }

  std::mutex owner_;  // held by the thread whose loop runs
  std::vector<std::thread> helpers_;
  std::atomic<int> round_{0};   // changes with every loop
  std::atomic<int> inside_{0};  // helpers that take part
  std::atomic<bool> ending_{false};
  std::mutex mutex_;  // guards what follows
  Loop* loop_ = nullptr;
  int wanted_ = 0;
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
  const int most_threads = thread_count();
  const Index most = kRangesPerThread * most_threads;
  const Index step = std::max({Index{1}, grain, (count + most - 1) / most});
  const Index ranges = (count + step - 1) / step;
  if (ranges > 1 && most_threads > 1 && !in_loop) {
    static Helpers helpers;
    Loop loop{body, count, step};
    const auto wanted = std::min<Index>(ranges, most_threads) - 1;
    if (helpers.run(loop, static_cast<int>(wanted))) return;
  }
  for (Index first = 0; first < count; first += step) body(first, std::min(count, first + step));
}

}  // namespace attnscope
