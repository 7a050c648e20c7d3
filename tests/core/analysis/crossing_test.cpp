#include "core/analysis/crossing.h"

#include <gtest/gtest.h>

#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Rows whose strongest source token is keys[row].
Tensor weights_on(const std::vector<Index>& keys, Index sources) {
  Tensor weights = Tensor::full({static_cast<Index>(keys.size()), sources}, 0.1f);
  for (std::size_t row = 0; row < keys.size(); ++row) {
    if (keys[row] >= 0) weights(static_cast<Index>(row), keys[row]) = 0.8f;
  }
  return weights;
}

TEST(Crossing, IsTheFractionOfDiscordantPairs) {
  EXPECT_EQ(crossing(weights_on({0, 1, 2}, 3), 3), 0);
  EXPECT_EQ(crossing(weights_on({2, 1, 0}, 3), 3), 1);
  EXPECT_EQ(crossing(weights_on({1, 1, 0, 0}, 2), 4), 1);
  // (0, 2) and (0, 1) are concordant, (2, 1) is discordant.
  EXPECT_NEAR(crossing(weights_on({0, 2, 1}, 3), 3), 1.0 / 3, 1e-12);
  EXPECT_EQ(crossing(weights_on({0, 1, 0}, 2), 2), 0);  // only the first two rows
}

TEST(Crossing, IsNaNIfAllRowsAgree) {
  EXPECT_TRUE(std::isnan(crossing(weights_on({1, 1}, 2), 2)));
  const Tensor no_weights = Tensor::zeros({2, 2});
  EXPECT_EQ(strongest_sources(no_weights), (std::vector<Index>{-1, -1}));
  EXPECT_TRUE(std::isnan(crossing(no_weights, 2)));
}

TEST(Crossing, ChoosesFirstOfEqualSources) {
  EXPECT_EQ(strongest_sources(Tensor::from({3, 3}, {0.5F, 0.5F, 0, 0, 0.2F, 0.2F, 0, 0, 0.1F})),
            (std::vector<Index>{0, 1, 2}));
  // Rows without weights are in no pair.
  EXPECT_EQ(crossing(weights_on({1, -1, 0}, 2), 3), 1.0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
