#include "core/training/expected_map.h"

#include <gtest/gtest.h>

#include "core/training/loss_log.h"
#include "core/training/task.h"
#include "core/training/trainer.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Batch sequence_of(const std::string& text, const std::string& targets) {
  Batch batch;
  const auto length = static_cast<Index>(text.size());
  batch.ids = IntTensor({1, length});
  batch.targets = IntTensor::full({1, length}, -1);
  for (Index i = 0; i < length; ++i) {
    const auto n = static_cast<std::size_t>(i);
    batch.ids[i] = text[n];
    if (targets[n] != '.') batch.targets[i] = targets[n];
  }
  return batch;
}

Batch pair_of(const std::string& source, const std::string& target) {
  const TextPair pair{source, target};
  return pair_batch({&pair, 1}, 256);
}

ExpectedKeys keys_of(const char* id, const Batch& batch) {
  return task(id).expected->keys(batch);
}

TEST(ExpectedMap, FollowsTheTask) {
  EXPECT_EQ(keys_of("induction", sequence_of("kqbkq", "..kqb")),
            (ExpectedKeys{{}, {}, {}, {1}, {2}}));
  EXPECT_EQ(keys_of("associative", sequence_of("b3k7b", "....3")),
            (ExpectedKeys{{}, {}, {}, {}, {1}}));
  EXPECT_EQ(keys_of("recall", sequence_of("!k40?k", "....k.")),
            (ExpectedKeys{{}, {}, {}, {}, {1}, {}}));
  EXPECT_EQ(keys_of("brackets", sequence_of("([]{", ".].}")), (ExpectedKeys{{}, {1}, {}, {3}}));
  EXPECT_EQ(keys_of("copy", pair_of("abc", "abc")), (ExpectedKeys{{0}, {1}, {2}, {}}));
  EXPECT_EQ(keys_of("reverse", pair_of("abc", "cba")), (ExpectedKeys{{2}, {1}, {0}, {}}));
  EXPECT_EQ(keys_of("sort", pair_of("bab", "abb")), (ExpectedKeys{{1}, {0, 2}, {0, 2}, {}}));
  EXPECT_FALSE(task("text").expected);
}

// An untrained model attends nearly uniformly.
TEST(ExpectedMap, MatchOfAnUntrainedModelIsUniform) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"induction", "brackets", "copy", "sort"}) {
    SCOPED_TRACE(id);
    const TrainingPlan plan = testing::plan_of(id, folder.path());
    Trainer trainer(plan);
    trainer.step();
    trainer.score(false);
    const ExpectedMatch match = trainer.log().rows().back().expected;
    EXPECT_NEAR(match.weight, match.uniform, 0.1);
    EXPECT_GT(match.uniform, 0);
    EXPECT_LT(match.contrast(), 0.2);
  }
}

TEST(ExpectedMap, ContrastIsThatOfAPerfectHead) {
  ExpectedMatch match;
  match.uniform = 0.25;
  match.weight = 0.25;
  EXPECT_EQ(match.contrast(), 0);
  match.weight = 1;
  EXPECT_EQ(match.contrast(), 1);
  match.layer = 1;
  match.head = 3;
  EXPECT_EQ(head_text(match), "layer 1, head 3");
  match.step = 2;
  EXPECT_EQ(head_text(match), "step 2, layer 1, head 3");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
