#include "core/view/parts/weight_text.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(WeightText, FormatsNumbersOfAMapAlike) {
  EXPECT_EQ(weight_text(1, 1), "1.00");
  EXPECT_EQ(weight_text(0.5, 1), "0.50");
  EXPECT_EQ(weight_text(0.034, 0.034), "0.034");
  EXPECT_EQ(weight_text(0.01, 0.034), "0.010");
  EXPECT_EQ(weight_text(-0.25, 0.9), "-0.25");
}

TEST(WeightText, OmitsNumbersThatRoundToZero) {
  EXPECT_EQ(weight_text(0, 1), "");
  EXPECT_EQ(weight_text(0.004, 1), "");
  EXPECT_EQ(weight_text(-0.004, 1), "");
  EXPECT_EQ(weight_text(0.006, 1), "0.01");
  EXPECT_EQ(weight_text(0.004, 0.05), "0.004");
}

TEST(WeightText, UsesExponentsBeyondFourDecimals) {
  EXPECT_EQ(weight_text(3e-6, 3e-6), "3e-6");
  EXPECT_EQ(weight_text(0, 3e-6), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
