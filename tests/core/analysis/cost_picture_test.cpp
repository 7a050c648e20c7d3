// Where everything stands in pictures of costs, and what their table says, of numbers that are
// given.
#include "core/analysis/cost_picture.h"

#include <gtest/gtest.h>

#include "tests/support/told_picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Counted as they are, and as if they had been measured: a variant the faster the later it comes.
CostCurves curves() {
  CostRequest request;
  for (const char* id : {"full", "local", "performer", "strided"}) {
    request.variants.push_back({{id, default_values(variant(id).parameters)}, true});
  }
  request.lengths = {64, 256, 1024, 4096};
  request.measured = false;
  CostCurves result = cost_curves(request, {}, {});
  result.backend = "CPU (2 threads, AVX-512)";
  result.seconds_of_operation = 2e-10;
  double faster = 1;
  for (CostSeries& series : result.series) {
    for (CostPoint& point : series.points) {
      point.seconds = 3e-10 * point.operations / faster;
      point.peak_bytes = 1.5 * point.bytes / faster;
    }
    faster *= 1.7;
  }
  return result;
}

std::string told(const CostCurves& of, const CostLook& look) {
  static const testing::PlainMeasure measure;
  return testing::told(cost_picture(of, look, Theme::light(), measure));
}

TEST(CostPicture, StandsAsTold) {
  const CostCurves whole = curves();
  CostCurves cut = whole;  // left out, not measured, stopped
  cut.series[0].points[3].missing = "would take about 9 s";
  cut.series[1].points.pop_back();
  cut.series[2].points[1].seconds = cut.series[2].points[1].peak_bytes =
      std::numeric_limits<double>::quiet_NaN();
  cut.stopped = true;
  CostCurves counted = whole;
  counted.seconds_of_operation = std::numeric_limits<double>::quiet_NaN();
  for (CostSeries& series : counted.series) {
    for (CostPoint& point : series.points) {
      point.seconds = point.peak_bytes = std::numeric_limits<double>::quiet_NaN();
    }
  }
  std::string text;
  for (const auto& [name, of] :
       {std::pair("whole", &whole), {"cut", &cut}, {"counted", &counted}}) {
    for (const CostQuantity quantity :
         {CostQuantity::Time, CostQuantity::Operations, CostQuantity::Bytes}) {
      for (const auto& [measured, formula] :
           {std::pair(true, false), {false, true}, {true, true}, {false, false}}) {
        text += std::string(name) + ", " + name_of(quantity) + (measured ? " measured" : "") +
                (formula ? " by formula" : "") + "\n";
        text += told(*of, {.quantity = quantity, .measured = measured, .formula = formula});
      }
    }
  }
  CostLook look{.quantity = CostQuantity::Operations, .guides = false};
  text += "without guides\n" + told(whole, look);
  look = {.width = 360, .height = 300};
  text += "small\n" + told(whole, look);
  CostCurves one = whole;
  one.series.resize(1);
  one.series[0].points.resize(1);
  text += "one point\n" + told(one, {}) + "no point\n";
  one.series.clear();
  text += told(one, {});
  EXPECT_TRUE(testing::is_nearly_as_told(text, "core/analysis/cost_pictures.txt", 2e-6, 0.06));
}

TEST(CostPicture, TableIsAsTold) {
  EXPECT_TRUE(
      testing::is_nearly_as_told(to_csv(curves()), "core/analysis/cost_table.txt", 1e-6, 0));
}

TEST(CostPicture, NumbersAreOfWhatIsAskedFor) {
  const CostCurves of = curves();
  const CostPoint& point = of.series[1].points[2];
  EXPECT_EQ(cost_number(of, point, CostQuantity::Operations, true), point.operations);
  EXPECT_EQ(cost_number(of, point, CostQuantity::Operations, false), point.operations);
  EXPECT_EQ(cost_number(of, point, CostQuantity::Time, true), point.seconds);
  EXPECT_DOUBLE_EQ(cost_number(of, point, CostQuantity::Time, false), 2e-10 * point.operations);
  EXPECT_EQ(cost_number(of, point, CostQuantity::Bytes, true), point.peak_bytes);
  EXPECT_EQ(cost_number(of, point, CostQuantity::Bytes, false), point.bytes);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
