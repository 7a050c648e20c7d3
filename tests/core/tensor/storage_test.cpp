#include "core/tensor/storage.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/base/parallel.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

TEST(Storage, ReusesFreedBlocks) {
  release_cached_storage();
  const void* first = allocate_block(10'000).get();
  const StorageStatistics before = storage_statistics();
  const auto second = allocate_block(10'000);
  const StorageStatistics after = storage_statistics();
  EXPECT_EQ(after.reused_blocks - before.reused_blocks, kCaches ? 1u : 0u);
  EXPECT_EQ(after.fresh_blocks - before.fresh_blocks, kCaches ? 0u : 1u);
  if (kCaches) {
    EXPECT_EQ(second.get(), first);
  }
}

TEST(Storage, CountsLiveBytes) {
  const std::size_t before = storage_statistics().live_bytes;
  {
    const auto block = allocate_block(1'000'000);
    const std::size_t live = storage_statistics().live_bytes - before;
    EXPECT_GE(live, 1'000'000u);
    EXPECT_LE(live, 1'070'000u);
  }
  EXPECT_EQ(storage_statistics().live_bytes, before);
}

// Block sizes are rounded up to one of sixteen size classes per power of two.
TEST(Storage, UsesSizeClasses) {
  const auto block_size = [](std::size_t bytes) {
    const std::size_t before = storage_statistics().live_bytes;
    const auto block = allocate_block(bytes);
    return storage_statistics().live_bytes - before;
  };
  constexpr std::size_t kMega = std::size_t{1} << 20, kStep = kMega / 32;
  EXPECT_EQ(block_size(kMega), kMega);
  EXPECT_EQ(block_size(kMega - 1), kMega);
  EXPECT_EQ(block_size(kMega - kStep + 1), kMega);
  EXPECT_EQ(block_size(kMega - kStep), kMega - kStep);
  EXPECT_EQ(block_size(kMega + 1), kMega + 2 * kStep);
  EXPECT_EQ(block_size(0), kStorageAlignment);
  EXPECT_EQ(block_size(1), kStorageAlignment);
  EXPECT_EQ(block_size(kStorageAlignment + 1), 2 * kStorageAlignment);
}

// Sets the memory budget for a scope.
class ScopedBudget {
 public:
  explicit ScopedBudget(std::size_t bytes) : before_(memory_budget()) { set_memory_budget(bytes); }
  ~ScopedBudget() { set_memory_budget(before_); }

 private:
  std::size_t before_;
};

TEST(Storage, RejectsLargeBlocksBeyondBudget) {
  constexpr std::size_t kMega = std::size_t{1} << 20, kBudget = 256 * kMega;
  release_cached_storage();
  const ScopedBudget budget(kBudget);
  const std::size_t live = storage_statistics().live_bytes;
  ASSERT_LT(live, 8 * kMega);
  const auto half = allocate_block(128 * kMega);
  const std::size_t rest = kBudget - 128 * kMega - live;
  // `remaining_block` is the largest size class within the remaining budget; `step` is the distance
  // to the next size class.
  const std::size_t step = 4 * kMega, remaining_block = rest / step * step;
  allocate_block(remaining_block);
  EXPECT_THROW(allocate_block(remaining_block + step), WorkError);
  EXPECT_EQ(storage_statistics().live_bytes, live + 128 * kMega);
  const auto last_block = allocate_block(remaining_block);
  EXPECT_THROW(allocate_block(kMega * 4), WorkError);
  EXPECT_NO_THROW(allocate_block(kMega / 2)) << "small blocks are exempt from the budget";
}

// Blocks below one megabyte and blocks allocated in parallel_for() are exempt from the budget.
TEST(Storage, ReportsExceededBudget) {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  release_cached_storage();
  std::vector<std::shared_ptr<void>> blocks;
  while (storage_statistics().live_bytes < 512 * kMega) blocks.push_back(allocate_block(8 * kMega));
  const ScopedBudget budget(256 * kMega);
  try {
    allocate_block(kMega);
    ADD_FAILURE() << "twice the budget is in use";
  } catch (const WorkError& e) {
    EXPECT_NE(std::string(e.what()).find("memory budget of 256 MB exceeded: 512 MB"),
              std::string::npos)
        << e.what();
    EXPECT_NE(std::string(e.what()).find(", 1 MB more needed"), std::string::npos) << e.what();
  }
  EXPECT_NO_THROW(allocate_block(kMega - kMega / 32));
  const int threads = thread_count();
  set_thread_count(2);
  parallel_for(2, 1, [&](Index, Index) { allocate_block(4 * kMega); });
  set_thread_count(threads);
}

// Blocks of many sizes, none of which returns, must not collect.
TEST(StorageDeathTest, CacheFollowsLargestUse) {
  if (!kCaches) GTEST_SKIP() << "caching is off";
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process
  const auto largest_cache = [](std::size_t step) {
    std::size_t largest = 0;
    for (std::size_t size = step; size <= 40 * step; size += step) {
      allocate_block(size);
      largest = std::max(largest, storage_statistics().cached_bytes);
    }
    return largest;
  };
  constexpr std::size_t kMega = std::size_t{1} << 20;
  EXPECT_EXIT(std::exit(largest_cache(kMega) > 64 * kMega), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(largest_cache(4 * kMega) > 160 * kMega), ::testing::ExitedWithCode(0), "");
  EXPECT_EXIT(std::exit(largest_cache(4 * kMega) <= 64 * kMega), ::testing::ExitedWithCode(0), "");
}

// The sum of cached and live bytes stays within the budget.
TEST(Storage, ReleasesCachedBlocksBeyondBudget) {
  if (!kCaches) GTEST_SKIP() << "caching is off";
  constexpr std::size_t kMega = std::size_t{1} << 20;
  allocate_block(1024 * kMega);  // raises the cache's limit to its maximum
  release_cached_storage();
  const std::size_t live = storage_statistics().live_bytes;
  allocate_block(200 * kMega);
  const std::size_t cached = storage_statistics().cached_bytes;
  EXPECT_EQ(cached, 200 * kMega);
  {
    const ScopedBudget budget(live + cached + 128 * kMega);
    { const auto fits = allocate_block(128 * kMega); }
    EXPECT_EQ(storage_statistics().cached_bytes, cached + 128 * kMega);
  }
  release_cached_storage();
  allocate_block(200 * kMega);
  {
    const ScopedBudget budget(live + cached + 128 * kMega - 1);
    const auto more = allocate_block(128 * kMega);
    EXPECT_EQ(storage_statistics().cached_bytes, 0u);
  }
  release_cached_storage();
  allocate_block(std::size_t{1} << 30);
  EXPECT_EQ(storage_statistics().cached_bytes, std::size_t{1} << 30) << "the cache's limit";
  allocate_block(kMega);
  EXPECT_EQ(storage_statistics().cached_bytes, kMega) << "the oldest block is evicted first";
  release_cached_storage();
}

TEST(Storage, TracksPeakLiveBytes) {
  reset_peak_storage();
  const std::size_t before = storage_statistics().live_bytes;
  EXPECT_EQ(storage_statistics().peak_bytes, before);
  { const auto one = allocate_block(1'000'000), two = allocate_block(2'000'000); }
  allocate_block(1'000'000);
  const std::size_t peak = storage_statistics().peak_bytes - before;
  EXPECT_TRUE(peak >= 3'000'000u && peak <= 3'200'000u) << peak;
  reset_peak_storage();
  EXPECT_EQ(storage_statistics().peak_bytes, storage_statistics().live_bytes);
}

TEST(Storage, LimitsCachedBytes) {
  release_cached_storage();
  EXPECT_EQ(storage_statistics().cached_bytes, 0u);
  for (std::size_t i = 1; i <= 12; ++i) allocate_block(i * (std::size_t{100} << 20));
  EXPECT_LE(storage_statistics().cached_bytes, std::size_t{1} << 30);
  release_cached_storage();
  EXPECT_EQ(storage_statistics().cached_bytes, 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // huge address spaces
void limit_addresses(std::size_t more_bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t all = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{all, all};
  setrlimit(RLIMIT_AS, &limit);
}

// Cached blocks of one size must not prevent an allocation of another size. A suite of its own runs
// in its own process, whose address space no thread of another test shares.
TEST(StorageExhaustion, ReleasesCacheBeforeFailing) {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  const pid_t child = fork();
  if (child == 0) {
    release_cached_storage();
    limit_addresses(200 * kMega);
    allocate_block(120 * kMega);
    const bool cached = storage_statistics().cached_bytes >= 120 * kMega;
    try {
      allocate_block(130 * kMega);
    } catch (const std::exception&) {
      _exit(1);
    }
    try {
      allocate_block(1000 * kMega);
    } catch (const std::exception&) {
      _exit(cached && storage_statistics().live_bytes < kMega ? 0 : 2);
    }
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}
#endif

TEST(Storage, IsThreadSafe) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (std::size_t i = 0; i < 2000; ++i) {
        const std::size_t bytes = 64 + 64 * (i % 7);
        const auto block = allocate_block(bytes);
        std::memset(block.get(), t, bytes);
        const auto* all = static_cast<const unsigned char*>(block.get());
        ASSERT_EQ(all[0], t);
        ASSERT_EQ(all[bytes - 1], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Guard bytes are enabled by ATTNSCOPE_GUARD_STORAGE.
TEST(StorageDeathTest, DetectsWritesPastEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("ATTNSCOPE_GUARD_STORAGE", "1", 1);
  const auto write_at = [](std::size_t offset) {
    const auto block = allocate_block(12);
    float* numbers = static_cast<float*>(block.get());
    if (!std::isnan(numbers[3])) return 1;
    numbers[offset] = 1;
    return 0;
  };
  EXPECT_EXIT(std::exit(write_at(2)), ::testing::ExitedWithCode(0), "");
  EXPECT_DEATH(write_at(3), "write past the end of an array of 12 bytes");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
