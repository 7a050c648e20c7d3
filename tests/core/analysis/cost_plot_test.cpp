// Golden cost plots and tables.
#include "core/analysis/cost_plot.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/golden_svg.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Curves with counted operations and artificial times. Each variant is faster than the previous
// one.
CostCurves make_curves() {
  CostRequest request;
  for (const char* id : {"full", "local", "performer", "strided"}) {
    request.variants.push_back({{id, default_values(variant(id).parameters)}, true});
  }
  request.lengths = {64, 256, 1024, 4096};
  request.measured = false;
  request.max_seconds = 1000;  // whatever else the machine does
  CostCurves result = cost_curves(request, {});
  result.backend = "CPU (2 threads, AVX-512)";
  result.seconds_per_operation = 2e-10;
  double speed = 1;
  for (CostSeries& series : result.series) {
    for (CostPoint& point : series.points) {
      point.seconds = 3e-10 * point.operations / speed;
      point.peak_bytes = 1.5 * point.bytes / speed;
    }
    speed *= 1.7;
  }
  return result;
}

void expect_golden(const CostCurves& costs, const CostPlotOptions& options,
                   const std::string& name) {
  static const testing::PlainMeasure measure;
  EXPECT_TRUE(testing::matches_golden_svg(cost_plot(costs, options, Theme::light(), measure),
                                          "golden/charts/costs-" + name + ".svg"));
}

TEST(CostPlot, MatchesGoldenSvg) {
  const CostCurves complete = make_curves();
  expect_golden(complete, {.quantity = CostQuantity::Time, .formula = true}, "time");
  CostCurves stopped = complete;  // with points that are missing or not measured
  stopped.series[0].points[3].missing = "would take about 9 s";
  stopped.series[1].points.pop_back();
  stopped.series[2].points[1].seconds = stopped.series[2].points[1].peak_bytes =
      std::numeric_limits<double>::quiet_NaN();
  stopped.stopped = true;
  expect_golden(stopped, {.quantity = CostQuantity::Bytes, .guides = false}, "stopped");
  CostCurves empty = complete;
  empty.series.clear();
  expect_golden(empty, {.width = 360, .height = 300}, "empty");
}

TEST(CostPlot, TableMatchesGolden) {
  EXPECT_TRUE(
      testing::matches_golden_rounded(to_csv(make_curves()), "core/analysis/cost_table.txt"));
}

TEST(CostPlot, ShowsTheRequestedNumbers) {
  const CostCurves costs = make_curves();
  const CostPoint& point = costs.series[1].points[2];
  EXPECT_EQ(cost_number(costs, point, CostQuantity::Operations, true), point.operations);
  EXPECT_EQ(cost_number(costs, point, CostQuantity::Operations, false), point.operations);
  EXPECT_EQ(cost_number(costs, point, CostQuantity::Time, true), point.seconds);
  EXPECT_DOUBLE_EQ(cost_number(costs, point, CostQuantity::Time, false), 2e-10 * point.operations);
  EXPECT_EQ(cost_number(costs, point, CostQuantity::Bytes, true), point.peak_bytes);
  EXPECT_EQ(cost_number(costs, point, CostQuantity::Bytes, false), point.bytes);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
