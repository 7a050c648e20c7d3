#include "core/base/shared_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Numbers = SharedCache<int, int>;

std::function<int()> loader(int value) {
  return [value] { return value; };
}

TEST(SharedCache, LoadsOncePerName) {
  Numbers numbers(2);
  std::atomic<int> reads{0};
  std::vector<std::shared_ptr<const int>> values(8);
  {
    std::vector<std::jthread> threads;
    for (auto& value : values) {
      threads.emplace_back([&] {
        value = numbers.get("a", 0, [&] {
          ++reads;
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          return 7;
        });
      });
    }
  }
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(numbers.reads(), 1);
  for (const auto& value : values) EXPECT_EQ(value, values.front());
  EXPECT_EQ(*values.front(), 7);
}

TEST(SharedCache, ReloadsNewVersions) {
  Numbers numbers(2);
  const auto first = numbers.get("a", 0, loader(1)), second = numbers.get("a", 1, loader(2));
  EXPECT_EQ(*first, 1);  // the old value is unchanged
  EXPECT_EQ(*second, 2);
  EXPECT_EQ(numbers.get("a", 1, loader(3)), second);
}

TEST(SharedCache, NeverReloadsValuesInUse) {
  Numbers numbers(1);
  auto held_value = numbers.get("used", 0, loader(1));
  const std::weak_ptr<const int> evicted_value = numbers.get("other", 0, loader(2));
  numbers.get("third", 0, loader(3));
  EXPECT_TRUE(evicted_value.expired());  // unused and evicted
  EXPECT_EQ(numbers.get("used", 0, loader(4)), held_value);
  EXPECT_EQ(numbers.reads(), 3);
  EXPECT_EQ(*numbers.get("other", 0, loader(5)), 5);
}

TEST(SharedCache, CachesNothingAfterFailure) {
  Numbers numbers(1);
  const auto failing_loader = []() -> int { throw std::runtime_error("broken"); };
  EXPECT_THROW(numbers.get("a", 0, failing_loader), std::runtime_error);
  EXPECT_EQ(*numbers.get("a", 0, loader(1)), 1);
  EXPECT_THROW(numbers.get("a", 1, failing_loader), std::runtime_error);
  EXPECT_EQ(*numbers.get("a", 1, loader(2)), 2);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
