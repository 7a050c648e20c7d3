#include "app/window/memory_trim.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// Memory of this process that is backed by no file, in megabytes.
double anonymous_megabytes() {
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> kilobytes;
  }
  return kilobytes / 1000;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(MemoryTrim, ReturnsMemoryBetweenUsedBlocksOnceWorkHasEnded) {
  constexpr std::size_t kBlock = 16'000, kBlocks = 4'000, kKept = 100;  // 64 MB; every 100th stays
  std::vector<std::unique_ptr<char[]>> blocks;
  for (std::size_t n = 0; n < kBlocks; ++n) {
    blocks.push_back(std::make_unique<char[]>(kBlock));
  }
  for (std::size_t n = 0; n < kBlocks; ++n) {
    if (n % kKept != 0) blocks[n].reset();
  }
  MemoryTrim trim;
  const double freed = anonymous_megabytes();
  trim.trim_if_due(1e9);  // no work has ended
  EXPECT_NEAR(anonymous_megabytes(), freed, 5);
  trim.request(10);
  EXPECT_GT(trim.due(), 10);
  trim.trim_if_due(10.1);  // too early
  EXPECT_NEAR(anonymous_megabytes(), freed, 5);
  trim.trim_if_due(trim.due());
  EXPECT_LT(anonymous_megabytes(), freed - 50);
  EXPECT_LT(trim.due(), 0);
}
#endif

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
