#include "core/view/parts/kept.h"

#include <gtest/gtest.h>

#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::synthetic_trace;

struct Numbers {
  std::vector<std::string> words;
};

TEST(Kept, NumbersOfARunAreMadeOnce) {
  const Trace one = synthetic_trace(2, 2, 5), other = synthetic_trace(2, 2, 5);
  ViewCache cache;
  int made = 0;
  const auto of = [&](const Trace& trace, const std::string& name, ViewCache* keeper) {
    testing::InputOf in(trace, {});
    in.input.cache = keeper;
    return kept(in.input, source_of(trace), name, [&] {
      ++made;
      return Numbers{{name, std::to_string(made)}};
    });
  };
  const auto first = of(one, "a", &cache);
  EXPECT_EQ(first->words, (std::vector<std::string>{"a", "1"}));
  EXPECT_EQ(of(one, "a", &cache), first);
  EXPECT_EQ(made, 1);
  EXPECT_EQ(of(one, "b", &cache)->words[0], "b");
  EXPECT_EQ(of(one, "a", &cache), first);
  EXPECT_EQ(made, 2);
  EXPECT_EQ(of(other, "a", &cache)->words[1], "3");
  EXPECT_EQ(of(one, "a", nullptr)->words[1], "4");  // nothing keeps it
}

// Nothing of it may stand for another run: there is none to tell it apart by.
TEST(Kept, WithoutARunNothingIsKept) {
  ViewCache cache;
  int made = 0;
  const Trace empty;
  for (int n = 0; n < 2; ++n) {
    testing::InputOf in(empty, {});
    in.input.cache = &cache;
    kept(in.input, source_of(empty), "a", [&] { return ++made; });
  }
  EXPECT_EQ(made, 2);
}

// What a window shows again and again is what it showed first.
TEST(Kept, PicturesAreTheSameWithACache) {
  const auto gates = testing::run_case("join-gru", testing::kIds);
  const auto steps = testing::run_case("universal-act", testing::kIds);
  ViewCache cache;
  for (int round = 0; round < 2; ++round) {
    for (const auto& [trace, id] : {std::pair{gates, "gates"}, std::pair{steps, "steps"}}) {
      testing::Look look;
      const std::string plain = testing::all_text(look_at(*trace, id, look).list);
      look.cache = &cache;
      EXPECT_EQ(testing::all_text(look_at(*trace, id, look).list), plain);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
