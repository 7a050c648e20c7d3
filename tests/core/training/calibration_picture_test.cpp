// Where everything stands in pictures of calibrations, of numbers that are given.
#include "core/training/calibration_picture.h"

#include <gtest/gtest.h>

#include "tests/support/told_picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Calibration calibration(CalibrationMethod method) {
  Calibration result;
  result.request.method = method;
  result.request.tolerance = 0.12;
  result.model = "exits-calm";
  result.rule = "softmax";
  result.layers = 6;
  result.windows = 40;
  result.tokens = 5120;
  result.full_loss = 1.7;
  for (const double threshold : CalibrationRequest::falling_thresholds(8)) {
    const double left = 1 - threshold;
    result.points.push_back(
        {.effect = {threshold, 0.4 * left * left, 1.7 + 0.5 * left * left, 6 - 4.5 * left},
         .p = 0.1 * left,
         .accepted = threshold > 0.4});
  }
  result.threshold = 0.5;
  result.other = ExitEffect{0.5, 0.11, 1.83, 3.7};
  result.other_full_loss = 1.72;
  result.other_windows = 17;
  return result;
}

TEST(CalibrationPicture, StandsAsTold) {
  const testing::PlainMeasure measure;
  std::string text;
  for (const CalibrationMethod method :
       {CalibrationMethod::LearnThenTest, CalibrationMethod::GridSearch}) {
    Calibration of = calibration(method);
    const auto add = [&](const std::string& name, double width, double height, const Theme& theme) {
      text += name_of(method) + ", " + name + "\n" +
              testing::told(calibration_picture(of, width, height, theme, measure));
    };
    add("whole", 900, 560, Theme::light());
    add("small", 420, 300, Theme::dark());
    of.threshold.reset();
    of.other.reset();
    add("without a threshold", 900, 560, Theme::light());
    of.points.resize(3);
    add("begun", 900, 560, Theme::light());
  }
  EXPECT_TRUE(
      testing::is_nearly_as_told(text, "core/training/calibration_pictures.txt", 2e-6, 0.06));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
