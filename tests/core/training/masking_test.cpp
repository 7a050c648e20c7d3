#include "core/training/masking.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Relative frequencies of masked, random and unchanged tokens, over many tokens.
TEST(Masking, MasksLikeBert) {
  const Index count = 40000;
  const Masking masking{0.25, 7, 10};
  const IntTensor ids = IntTensor::full({count}, 3);
  Batch batch;
  batch.ids = IntTensor({1, count});
  batch.targets = IntTensor({1, count});
  Random random(5);
  mask_tokens(ids.data(), masking, random, 0, batch);
  double targets = 0, masked = 0, unchanged = 0, replaced = 0;
  for (Index i = 0; i < count; ++i) {
    const std::int32_t visible_id = batch.ids(Index{0}, i), target = batch.targets(Index{0}, i);
    if (target < 0) {
      ASSERT_EQ(visible_id, 3);
      continue;
    }
    ASSERT_EQ(target, 3);
    ASSERT_TRUE(visible_id >= 0 && visible_id < 10);
    ++targets;
    ++(visible_id == 7 ? masked : visible_id == 3 ? unchanged : replaced);
  }
  EXPECT_NEAR(targets / count, 0.25, 0.01);
  EXPECT_NEAR(masked / targets, 0.8, 0.02);
  EXPECT_NEAR(replaced / targets, 0.1 * 8 / 9, 0.015);  // a random id may equal the original id
  EXPECT_NEAR(unchanged / targets, 0.1 + 0.1 / 9, 0.015);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
