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

namespace attnscope {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr bool kCaches = false;
#else
constexpr bool kCaches = true;
#endif

TEST(Storage, ReusesFreedBlocks) {
  release_cached_storage();
  const void* first = allocate_block(10'000).get();
  const StorageStatistics before = storage_statistics();
  const auto again = allocate_block(10'000);
  const StorageStatistics after = storage_statistics();
  EXPECT_EQ(after.reused_blocks - before.reused_blocks, kCaches ? 1u : 0u);
  EXPECT_EQ(after.fresh_blocks - before.fresh_blocks, kCaches ? 0u : 1u);
  if (kCaches) {
    EXPECT_EQ(again.get(), first);
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

TEST(Storage, RemembersTheMostLiveBytes) {
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

TEST(Storage, KeepsNoMoreThanItsLimit) {
  release_cached_storage();
  EXPECT_EQ(storage_statistics().cached_bytes, 0u);
  for (std::size_t i = 1; i <= 12; ++i) allocate_block(i * (std::size_t{100} << 20));
  EXPECT_LE(storage_statistics().cached_bytes, std::size_t{1} << 30);
  release_cached_storage();
  EXPECT_EQ(storage_statistics().cached_bytes, 0u);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // these have huge spaces
void limit_addresses(std::size_t more_bytes) {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t all = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + more_bytes;
  const rlimit limit{all, all};
  setrlimit(RLIMIT_AS, &limit);
}

// Blocks of one size, when there is no room beside them for another.
TEST(Storage, GivesBackWhatItKeepsBeforeItRefuses) {
  constexpr std::size_t kMega = std::size_t{1} << 20;
  const pid_t child = fork();
  if (child == 0) {
    release_cached_storage();
    limit_addresses(200 * kMega);
    allocate_block(120 * kMega);
    const bool kept = storage_statistics().cached_bytes >= 120 * kMega;
    try {
      allocate_block(130 * kMega);
    } catch (const std::exception&) {
      _exit(1);
    }
    try {
      allocate_block(1000 * kMega);
    } catch (const std::exception&) {
      _exit(kept && storage_statistics().live_bytes < kMega ? 0 : 2);
    }
    _exit(3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}
#endif

TEST(Storage, ServesSeveralThreads) {
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

// As the tests run: what is behind an array is no number, and is left alone.
TEST(StorageDeathTest, TheEndsOfBlocksAreWatched) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("ATTNSCOPE_GUARD_STORAGE", "1", 1);
  const auto past = [](std::size_t offset) {
    const auto block = allocate_block(12);
    float* numbers = static_cast<float*>(block.get());
    if (!std::isnan(numbers[3])) return 1;
    numbers[offset] = 1;
    return 0;
  };
  EXPECT_EXIT(std::exit(past(2)), ::testing::ExitedWithCode(0), "");
  EXPECT_DEATH(past(3), "written behind the end of an array of 12 bytes");
}

}  // namespace
}  // namespace attnscope
