// Layout of figures for a calibration with fixed numbers.
#include "core/training/calibration_picture.h"

#include <gtest/gtest.h>

#include "tests/support/golden_svg.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Calibration make_calibration(CalibrationMethod method) {
  Calibration result;
  result.request.method = method;
  result.request.tolerance = 0.12;
  result.model = "exits-calm";
  result.rule = "softmax";
  result.layers = 6;
  result.windows = 40;
  result.tokens = 5120;
  result.full_loss = 1.7;
  for (const double threshold : CalibrationRequest::descending_thresholds(8)) {
    const double distance = 1 - threshold;
    result.points.push_back({.effect = {threshold, 0.4 * distance * distance,
                                        1.7 + 0.5 * distance * distance, 6 - 4.5 * distance},
                             .p = 0.1 * distance,
                             .accepted = threshold > 0.4});
  }
  result.threshold = 0.5;
  result.holdout = ExitEffect{0.5, 0.11, 1.83, 3.7};
  result.holdout_loss = 1.72;
  return result;
}

TEST(CalibrationPicture, MatchesGoldenSvg) {
  const testing::PlainMeasure measure;
  for (const CalibrationMethod method :
       {CalibrationMethod::LearnThenTest, CalibrationMethod::GridSearch}) {
    const Calibration sample = make_calibration(method);
    const bool is_small = method == CalibrationMethod::GridSearch;
    EXPECT_TRUE(testing::matches_golden_svg(
        calibration_picture(sample, is_small ? 420 : 900, is_small ? 300 : 560,
                            is_small ? Theme::dark() : Theme::light(), measure),
        is_small ? "golden/charts/calibration-grid-search.svg"
                 : "golden/charts/calibration-learn-then-test.svg"));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
