#include "core/view/parts/chart.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Numbers on the vertical axis of a chart.
std::vector<std::string> numbers_up(double height, double least, double most) {
  const Trace trace = testing::synthetic_trace(1, 1, 2);
  const testing::InputOf of(trace, {});
  Page page(of.input);
  const Chart chart = place_chart(page, {0, 0, 300, height}, {.titles = {}, .numbers = false},
                                  {.least = least, .most = most, .titles = {}});
  EXPECT_FALSE(chart.empty());
  draw_chart(page, chart);
  std::vector<std::string> numbers;
  for (const Text& text : testing::texts(page.take(0))) numbers.push_back(text.text);
  return numbers;
}

TEST(Chart, LowAxisLabelsItsEnds) {
  using Numbers = std::vector<std::string>;
  EXPECT_EQ(numbers_up(200, 0, 1).size(), 6u);
  EXPECT_EQ(numbers_up(29, -11, 6), (Numbers{"-10", "5"}));
  EXPECT_EQ(numbers_up(29, 0, 0.36), (Numbers{"0", "0.3"}));
  // No space for two round numbers.
  EXPECT_EQ(numbers_up(29, -21, 9.8), (Numbers{"-21", "9.8"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
