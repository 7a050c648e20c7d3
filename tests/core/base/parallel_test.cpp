#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class Parallel : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(initial_threads_); }
  const int initial_threads_ = thread_count();
};

TEST_P(Parallel, CoversEveryItemOnce) {
  for (const Index count : {0, 1, 2, 7, 64, 1000}) {
    for (const Index grain : {0, 1, 3, 64, 5000}) {
      std::vector<std::atomic<int>> visits(static_cast<std::size_t>(count));
      parallel_for(count, grain, [&](Index first, Index last) {
        EXPECT_LT(first, last);
        EXPECT_TRUE(last - first >= grain || last == count);
        for (Index i = first; i < last; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      for (const auto& n : visits) EXPECT_EQ(n, 1);
    }
  }
}

TEST_P(Parallel, RunsNestedLoopsInPlace) {
  std::atomic<int> total = 0;
  parallel_for(8, 1, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      parallel_for(10, 1, [&](Index a, Index b) { total += static_cast<int>(b - a); });
    }
  });
  EXPECT_EQ(total, 80);
}

TEST_P(Parallel, UsesSameRangesInEveryCall) {
  const auto ranges = [] {
    std::mutex mutex;
    std::vector<std::pair<Index, Index>> calls;
    parallel_for(1001, 10, [&](Index first, Index last) {
      const std::lock_guard lock(mutex);
      calls.emplace_back(first, last);
    });
    std::sort(calls.begin(), calls.end());
    return calls;
  };
  EXPECT_EQ(ranges(), ranges());
}

TEST_P(Parallel, ServesConcurrentCallers) {
  std::atomic<int> total = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        parallel_for(100, 1,
                     [&](Index first, Index last) { total += static_cast<int>(last - first); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 500 * 100);
}

// The caller receives exceptions from helper threads, too. The next loop is unaffected.
TEST_P(Parallel, RethrowsExceptionsOfBodies) {
  for (const Index thrower : {0, 17, 63}) {
    for (const bool all_throw : {false, true}) {
      std::string message;
      try {
        parallel_for(64, 1, [&](Index first, Index last) {
          std::this_thread::yield();
          if (all_throw || (first <= thrower && thrower < last))
            throw std::runtime_error("no memory");
        });
      } catch (const std::runtime_error& e) {
        message = e.what();
      }
      EXPECT_EQ(message, "no memory");
      EXPECT_FALSE(in_parallel_for());
      std::atomic<Index> total = 0;
      parallel_for(64, 1, [&](Index first, Index last) { total += last - first; });
      EXPECT_EQ(total, 64);
    }
  }
}

// The loop throws even if the body returns early on a helper thread.
TEST_P(Parallel, BodiesObserveCancellation) {
  const Stop stop;
  const StopScope scope(stop);
  EXPECT_FALSE(is_stopping());
  std::atomic<int> finished_bodies{0};
  EXPECT_THROW(parallel_for(4, 1,
                            [&](Index first, Index) {
                              if (first == 0) stop.request();
                              while (!is_stopping()) std::this_thread::yield();
                              ++finished_bodies;
                            }),
               Stopped);
  EXPECT_GE(finished_bodies, 1);
}

// Cancellation is checked between ranges, so ranges must be short.
TEST_P(Parallel, LimitsRangeLength) {
  constexpr Index kCount = 1 << 20, kTestGrain = 16;
  std::atomic<Index> longest{0};
  parallel_for(kCount, kTestGrain, [&](Index first, Index last) {
    Index previous = longest;
    while (last - first > previous && !longest.compare_exchange_weak(previous, last - first)) {
    }
  });
  EXPECT_LE(longest, 256 * kTestGrain);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1, 2, 3));

TEST(ThreadCount, IsAtLeastOne) {
  const int initial_threads = thread_count();
  EXPECT_GE(initial_threads, 1);
  set_thread_count(-3);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(initial_threads);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
