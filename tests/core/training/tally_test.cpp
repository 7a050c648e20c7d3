#include "core/training/tally.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace {

TEST(Tally, CountsRowsThatHaveATarget) {
  Tally tally;
  EXPECT_TRUE(std::isnan(tally.score().loss) && std::isnan(tally.score().accuracy));
  const Tensor logits = Tensor::from({1, 3, 2}, {0, std::log(3.0f), 5, 1, 0, 0});
  tally.add(logits, IntTensor::from({1, 3}, {1, -1, 1}));
  EXPECT_EQ(tally.counted(), 2);
  EXPECT_EQ(tally.right(), 1);  // of equals the first is the likeliest
  EXPECT_NEAR(tally.nats(), -std::log(0.75) + std::log(2.0), 1e-6);
  tally.add(logits, IntTensor::from({1, 3}, {-1, -1, -1}));
  EXPECT_EQ(tally.counted(), 2);
  EXPECT_NEAR(tally.score().loss, tally.nats() / 2, 1e-12);
  EXPECT_EQ(tally.score().accuracy, 0.5);
}

}  // namespace
}  // namespace attnscope
