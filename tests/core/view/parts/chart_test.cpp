#include "core/view/parts/chart.h"

#include <gtest/gtest.h>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Tick labels on the y axis of a chart that is `height` pixels high.
std::vector<std::string> y_axis_labels(double height, double minimum, double maximum) {
  const Trace trace = testing::synthetic_trace(1, 1, 2);
  const testing::ViewInputFixture fixture(trace, {});
  Page page(fixture.input);
  const Chart chart = place_chart(page, {0, 0, 300, height}, {.titles = {}, .numbers = false},
                                  {.least = minimum, .most = maximum, .titles = {}});
  EXPECT_FALSE(chart.empty());
  draw_chart(page, chart);
  std::vector<std::string> numbers;
  for (const Text& text : testing::texts(page.take(0))) numbers.push_back(text.text);
  return numbers;
}

TEST(Chart, ShortAxisLabelsItsLimits) {
  using Numbers = std::vector<std::string>;
  EXPECT_EQ(y_axis_labels(200, 0, 1).size(), 6u);
  EXPECT_EQ(y_axis_labels(29, -11, 6), (Numbers{"-10", "5"}));
  EXPECT_EQ(y_axis_labels(29, 0, 0.36), (Numbers{"0", "0.3"}));
  // Without space for two round numbers, the limits are labelled.
  EXPECT_EQ(y_axis_labels(29, -21, 9.8), (Numbers{"-21", "9.8"}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
