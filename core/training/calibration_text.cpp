// Text summaries of calibrations.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/figure/plain_text.h"
#include "core/training/calibrate.h"

namespace attnscope {
namespace {

constexpr int kPercentDigits = 3;

std::string describe(const ExitEffect& effect, double full_loss, Index layers) {
  const double increase = effect.loss - full_loss;
  return percent(effect.changed_fraction, kPercentDigits) + " of predictions differ, the loss is " +
         brief(std::abs(increase)) + " nats per token " + (increase < 0 ? "below" : "above") +
         " the full model's, and " + brief(effect.layers) + " of " + count_text(layers, "layer") +
         " are computed";
}

}  // namespace

// A guarantee for n windows without any changed prediction requires (1 - tolerance)^n <= level.
std::string too_few_windows(Index windows, const CalibrationRequest& request) {
  const bool is_test = request.method == CalibrationMethod::LearnThenTest;
  double needed = 2;
  if (is_test) {
    needed = std::max(needed, std::ceil(std::log(request.level) / std::log1p(-request.tolerance)));
  }
  if (!(static_cast<double>(windows) < needed)) return "";
  return std::to_string(windows) + (windows == 1 ? " window is" : " windows are") + " too few" +
         (is_test ? " for any guarantee" : "") + ": at least " + fixed(needed, 0) +
         " are needed; use a longer text.";
}

std::string to_csv(const Calibration& calibration) {
  std::ostringstream csv;
  csv << "threshold,differs,p,loss,layers,accepted\n";
  for (const CalibrationPoint& point : calibration.points) {
    csv << point.effect.threshold << ',' << point.effect.changed_fraction << ',';
    if (!std::isnan(point.p)) csv << point.p;
    csv << ',' << point.effect.loss << ',' << point.effect.layers << ',' << (point.accepted ? 1 : 0)
        << '\n';
  }
  return csv.str();
}

std::string summary(const Calibration& calibration) {
  const CalibrationRequest& request = calibration.request;
  const bool is_test = request.method == CalibrationMethod::LearnThenTest;
  const std::string tolerance =
      is_test ? percent(request.tolerance, kPercentDigits) + " different predictions"
              : brief(request.tolerance) + " additional nats per token";
  const CalibrationPoint* chosen = calibration.selected_point();
  if (chosen == nullptr) {
    const std::string too_few = too_few_windows(calibration.windows, request);
    if (!too_few.empty()) return too_few;
    return "No threshold stays within " + tolerance + (is_test ? " with certainty" : "") + ".";
  }
  std::string text = "Threshold " + brief(chosen->effect.threshold) + ": " +
                     describe(chosen->effect, calibration.full_loss, calibration.layers);
  if (is_test) {
    text += "; with probability at least " + percent(1 - request.level, kPercentDigits) +
            " no more than " + percent(request.tolerance, kPercentDigits) +
            " will differ (p = " + brief(chosen->p, 2) + ", " +
            std::to_string(calibration.windows) + " windows)";
  }
  text += ".";
  if (calibration.holdout) {
    text += " On other text: " +
            describe(*calibration.holdout, calibration.holdout_loss, calibration.layers) + ".";
  }
  return text;
}

}  // namespace attnscope
