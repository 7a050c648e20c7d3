#include "core/training/tally.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Tally, CountsRowsWithATarget) {
  Tally tally;
  EXPECT_TRUE(std::isnan(tally.score().loss) && std::isnan(tally.score().accuracy));
  const Tensor logits = Tensor::from({1, 3, 2}, {0, std::log(3.0f), 5, 1, 0, 0});
  tally.add(logits, IntTensor::from({1, 3}, {1, -1, 1}));
  EXPECT_EQ(tally.count(), 2);
  EXPECT_EQ(tally.correct_count(), 1);  // of equal logits, the first counts as the most likely
  EXPECT_NEAR(tally.nats(), -std::log(0.75) + std::log(2.0), 1e-6);
  tally.add(logits, IntTensor::from({1, 3}, {-1, -1, -1}));
  EXPECT_EQ(tally.count(), 2);
  EXPECT_NEAR(tally.score().loss, tally.nats() / 2, 1e-12);
  EXPECT_EQ(tally.score().accuracy, 0.5);
}

// Id 0 is an ordinary target.
TEST(Tally, AddsUp) {
  const Index vocabulary = 3;
  const Tensor logits = Tensor::from({2, 2, 3}, {2, 1, 0, 0, 1, 2, 5, 0, 0, 0, 3, 0});
  const IntTensor targets = IntTensor::from({2, 2}, {0, 1, 0, 0});
  double nats = 0;
  for (Index row = 0; row < 4; ++row) {
    double sum = 0;
    for (Index v = 0; v < vocabulary; ++v) {
      sum += std::exp(static_cast<double>(logits[row * vocabulary + v]));
    }
    nats += std::log(sum) - static_cast<double>(logits[row * vocabulary + targets[row]]);
  }
  Tally tally, total;
  tally.add(logits, targets);
  EXPECT_EQ(tally.count(), 4);
  EXPECT_EQ(tally.correct_count(), 2);
  EXPECT_NEAR(tally.nats(), nats, 1e-5);
  tally.add(logits, targets);
  EXPECT_EQ(tally.count(), 8);
  EXPECT_EQ(tally.correct_count(), 4);
  EXPECT_NEAR(tally.nats(), 2 * nats, 1e-5);
  total.add(tally);
  total.add(tally);
  EXPECT_EQ(total.count(), 16);
  EXPECT_EQ(total.correct_count(), 8);
  EXPECT_NEAR(total.nats(), 4 * nats, 1e-5);
  EXPECT_NEAR(total.score().loss, nats / 4, 1e-5);
  EXPECT_EQ(total.score().accuracy, 0.5);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
