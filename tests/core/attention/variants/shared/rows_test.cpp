#include "core/attention/variants/shared/rows.h"

#include <gtest/gtest.h>

#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/windows.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Ordinals, HaveEnglishEndings) {
  const std::pair<Index, const char*> cases[] = {
      {1, "1st"},     {2, "2nd"},     {3, "3rd"},     {4, "4th"},     {9, "9th"},
      {10, "10th"},   {11, "11th"},   {12, "12th"},   {13, "13th"},   {14, "14th"},
      {20, "20th"},   {21, "21st"},   {22, "22nd"},   {23, "23rd"},   {24, "24th"},
      {101, "101st"}, {111, "111th"}, {112, "112th"}, {113, "113th"}, {1002, "1002nd"}};
  for (const auto& [number, text] : cases) EXPECT_EQ(ordinal(number), text);
}

TEST(WindowRule, StatesItsReach) {
  EXPECT_EQ(window_rule(4, 1, false), "window ±4");
  EXPECT_EQ(window_rule(4, 1, true), "window 4 back");
  EXPECT_EQ(window_rule(4, 3, false), "every 3rd, ±12");
  EXPECT_EQ(window_rule(4, 3, true), "every 3rd, 12 back");
}

TEST(Windows, ComputeMeansAndMaximaOfExistingRows) {
  const Tensor x = testing::random_tensor({2, 7, 3}, 1);
  const Tensor mean = window_mean(x, 3, 4).value(), maximum = window_max(x, 3, 4).value();
  const Tensor matrix = mean_matrix(7, 3, 4);
  ASSERT_EQ(mean.shape(), (Shape{2, 4, 3}));
  ASSERT_EQ(maximum.shape(), (Shape{2, 4, 3}));
  for (Index n = 0; n < 2; ++n) {
    for (Index w = 0; w < 4; ++w) {
      const Index end = std::min<Index>(7, 3 * w + 3), count = std::max<Index>(0, end - 3 * w);
      for (Index c = 0; c < 3; ++c) {
        double sum = 0, largest = count > 0 ? -1e30 : 0;
        for (Index row = 3 * w; row < end; ++row) {
          sum += static_cast<double>(x(n, row, c));
          largest = std::max(largest, static_cast<double>(x(n, row, c)));
        }
        EXPECT_NEAR(mean(n, w, c), count > 0 ? sum / static_cast<double>(count) : 0, 1e-6);
        EXPECT_EQ(maximum(n, w, c), static_cast<float>(largest));
      }
      for (Index row = 0; row < 7; ++row) {
        const bool is_in_window = row >= 3 * w && row < end;
        EXPECT_EQ(matrix(w, row), is_in_window ? 1.0f / static_cast<float>(count) : 0.0f);
      }
    }
  }
  EXPECT_EQ(window_count(6, 3), 2);
  EXPECT_EQ(window_count(7, 3), 3);
  EXPECT_EQ(window_count(0, 3), 0);
}

TEST(Exact, UnitRowsKeepZeros) {
  const float rows[] = {3, 4, 0, 0, -5, 12};
  const std::vector<double> unit = exact_unit_rows(rows, 3, 2);
  const double expected[] = {0.6, 0.8, 0, 0, -5.0 / 13, 12.0 / 13};
  ASSERT_EQ(unit.size(), 6u);
  for (std::size_t n = 0; n < 6; ++n) EXPECT_NEAR(unit[n], expected[n], 1e-15);
  EXPECT_EQ(first_maximum({1, 3, 3, 2}), 1);
  const Doubles zeros = zero_doubles((Index{1} << 20) + 3);
  EXPECT_EQ(zeros.size(), (std::size_t{1} << 20) + 3);
  EXPECT_EQ(zeros.back(), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
