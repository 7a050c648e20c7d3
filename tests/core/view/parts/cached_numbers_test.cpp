#include "core/view/parts/cached_numbers.h"

#include <gtest/gtest.h>

#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::synthetic_trace;

struct Numbers {
  std::vector<std::string> words;
};

TEST(CachedNumbers, ComputesNumbersOfRunOnce) {
  const Trace run = synthetic_trace(2, 2, 5), other_run = synthetic_trace(2, 2, 5);
  ViewCache cache;
  int computations = 0;
  const auto numbers_for = [&](const Trace& trace, const std::string& name, ViewCache* used_cache) {
    testing::ViewInputFixture fixture(trace, {});
    fixture.input.cache = used_cache;
    return cached_numbers(fixture.input, source_of(trace), CacheKey(name), [&] {
      ++computations;
      return Numbers{{name, std::to_string(computations)}};
    });
  };
  const auto first = numbers_for(run, "a", &cache);
  EXPECT_EQ(first->words, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(numbers_for(run, "a", &cache), first);
  EXPECT_EQ(computations, 1);
  EXPECT_EQ(numbers_for(run, "b", &cache)->words[0], "b");
  EXPECT_EQ(numbers_for(run, "a", &cache), first);
  EXPECT_EQ(computations, 2);
  EXPECT_EQ(numbers_for(other_run, "a", &cache)->words[1], "3");
  EXPECT_EQ(numbers_for(run, "a", nullptr)->words[1], "4");  // not cached
}

// An empty trace has no source that identifies its numbers.
TEST(CachedNumbers, DoesNotCacheWithoutRun) {
  ViewCache cache;
  int computations = 0;
  const Trace empty;
  for (int n = 0; n < 2; ++n) {
    testing::ViewInputFixture fixture(empty, {});
    fixture.input.cache = &cache;
    cached_numbers(fixture.input, source_of(empty), CacheKey("a"), [&] { return ++computations; });
  }
  EXPECT_EQ(computations, 2);
}

// Pictures drawn with a cache equal pictures drawn without it.
TEST(CachedNumbers, CachedPicturesAreIdentical) {
  const auto gates = testing::run_case("join-gru", testing::kIds);
  const auto steps = testing::run_case("universal-act", testing::kIds);
  ViewCache cache;
  for (int round = 0; round < 2; ++round) {
    for (const auto& [trace, id] : {std::pair{gates, "gates"}, std::pair{steps, "steps"}}) {
      testing::LayoutOptions look;
      const std::string uncached = testing::all_text(lay_out_view(*trace, id, look).list);
      look.cache = &cache;
      EXPECT_EQ(testing::all_text(lay_out_view(*trace, id, look).list), uncached);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
