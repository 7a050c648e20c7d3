#include "core/base/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope {
namespace {

// Minimum completed fraction and elapsed seconds for an estimate of the remaining time.
constexpr double kMinFraction = 0.01, kMinSeconds = 0.2;

}  // namespace

void Progress::begin_stage(std::string name, double from, double to) {
  const std::scoped_lock lock(mutex_);
  // Restarts the clock for a new run and at the first stage with a known range.
  if (to > 0 && (to_ <= 0 || from < from_)) start_ = Clock::now();
  stage_ = std::move(name);
  from_ = from;
  to_ = to;
  fraction_ = 0;
}

Progress::Snapshot Progress::snapshot() const {
  const std::scoped_lock lock(mutex_);
  const double stage_fraction = std::clamp(fraction_.load(), 0.0, 1.0);
  Snapshot result{stage_, from_ + (to_ - from_) * stage_fraction};
  if (to_ <= 0) return result;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  if (result.share < kMinFraction || result.share >= 1 || seconds < kMinSeconds) return result;
  result.seconds_left = seconds * (1 - result.share) / result.share;
  return result;
}

std::string time_left_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (!(seconds >= 0)) return "";
  const auto phrase = [](double count, const char* unit) {
    return "about " + std::to_string(std::lround(std::max(count, 1.0))) + " " + unit + " left";
  };
  if (seconds < 10) return phrase(seconds, "s");
  if (seconds < 1.5 * kMinute) return phrase(5 * std::round(seconds / 5), "s");  // multiples of 5
  if (seconds < 1.5 * kHour) return phrase(seconds / kMinute, "min");
  return phrase(seconds / kHour, "h");
}

}  // namespace attnscope
