#include "core/figure/ticks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Ticks, AreRoundAndWithinTheRange) {
  EXPECT_EQ(round_ticks(0, 1, 5), (std::vector<double>{0, 0.2, 0.4, 0.2 * 3, 0.8, 1}));
  for (const double maximum : {1e-6, 0.037, 0.5, 1.0, 3.0, 12345.0}) {
    for (const double minimum : {0.0, -maximum}) {
      const std::vector<double> ticks = round_ticks(minimum, maximum, 6);
      ASSERT_GE(ticks.size(), 3u) << maximum;
      EXPECT_LE(ticks.size(), 14u) << maximum;
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        EXPECT_TRUE(ticks[i] >= minimum - 1e-9 * maximum && ticks[i] <= maximum * (1 + 1e-9));
        EXPECT_TRUE(i == 0 || ticks[i] > ticks[i - 1]);
      }
      if (minimum < 0) {
        EXPECT_NE(std::find(ticks.begin(), ticks.end(), 0.0), ticks.end()) << maximum;
      }
    }
  }
}

TEST(Ticks, AreEmptyWithoutARange) {
  EXPECT_TRUE(round_ticks(1, 1, 5).empty());
  EXPECT_TRUE(round_ticks(2, 1, 5).empty());
  EXPECT_TRUE(round_ticks(0, std::nan(""), 5).empty());
  EXPECT_TRUE(round_ticks(0, INFINITY, 5).empty());
}

TEST(Ticks, HaveDistinguishingDecimals) {
  EXPECT_EQ(tick_text(0, 0.1), "0");
  EXPECT_EQ(tick_text(0.5, 0.25), "0.5");
  EXPECT_EQ(tick_text(2.05, 0.05), "2.05");
  EXPECT_EQ(tick_text(1500, 500), "1500");
}

// Due to rounding, the range divided by the count slightly exceeds a round number.
TEST(Ticks, TolerateRounding) {
  EXPECT_EQ(round_ticks(0.1, 0.4, 3).size(), 4u);
  EXPECT_EQ(round_ticks(0.2, 0.8, 6).size(), 7u);
  EXPECT_EQ(round_ticks(0, 1, 0).size(), 2u);  // as for a count of 1
}

TEST(Ticks, HaveDecimalsOfNearPowersOfTen) {
  EXPECT_EQ(tick_text(0.3, 0.3 - 0.2), "0.3");
  EXPECT_EQ(tick_text(0.0123, 1e-4), "0.0123");
  EXPECT_EQ(tick_text(0.0123, 0.9e-4), "0.012");
  EXPECT_EQ(tick_text(99999, 3), "99999");
  EXPECT_EQ(tick_text(-100000, 3), "-100000");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
