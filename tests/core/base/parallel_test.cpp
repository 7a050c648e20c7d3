#include "core/base/parallel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/base/stop_scope.h"

namespace attnscope {
namespace {

class Parallel : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(before_); }
  const int before_ = thread_count();
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

TEST_P(Parallel, ChoosesTheSameRangesAgain) {
  const auto ranges = [] {
    std::mutex mutex;
    std::vector<std::pair<Index, Index>> all;
    parallel_for(1001, 10, [&](Index first, Index last) {
      const std::lock_guard lock(mutex);
      all.emplace_back(first, last);
    });
    std::sort(all.begin(), all.end());
    return all;
  };
  EXPECT_EQ(ranges(), ranges());
}

TEST_P(Parallel, ServesSeveralThreadsAtATime) {
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

// Also where a helper's thread runs the body, and the next loop is as any other.
TEST_P(Parallel, ThrowsWhatABodyThrows) {
  for (const Index thrower : {0, 17, 63}) {
    for (const bool all : {false, true}) {
      std::string words;
      try {
        parallel_for(64, 1, [&](Index first, Index last) {
          std::this_thread::yield();
          if (all || (first <= thrower && thrower < last)) throw std::runtime_error("no memory");
        });
      } catch (const std::runtime_error& e) {
        words = e.what();
      }
      EXPECT_EQ(words, "no memory");
      EXPECT_FALSE(in_parallel_for());
      std::atomic<Index> total = 0;
      parallel_for(64, 1, [&](Index first, Index last) { total += last - first; });
      EXPECT_EQ(total, 64);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1, 2, 3));

TEST(ThreadCount, IsAtLeastOne) {
  const int before = thread_count();
  EXPECT_GE(before, 1);
  set_thread_count(-3);
  EXPECT_EQ(thread_count(), 1);
  set_thread_count(before);
}

}  // namespace
}  // namespace attnscope
