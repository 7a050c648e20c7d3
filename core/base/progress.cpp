#include "core/base/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope {

namespace {

// Less says nothing of the rest.
constexpr double kLeastShare = 0.01, kLeastSeconds = 0.2;

}  // namespace

void Progress::enter(std::string what, double from, double to) {
  const std::scoped_lock lock(mutex_);
  // Another run of the same, or the first whose shares are known.
  if (to > 0 && (to_ <= 0 || from < from_)) began_ = Clock::now();
  what_ = std::move(what);
  from_ = from;
  to_ = to;
  within_ = 0;
}

Progress::Now Progress::now() const {
  const std::scoped_lock lock(mutex_);
  const double within = std::clamp(within_.load(), 0.0, 1.0);
  Now now{what_, from_ + (to_ - from_) * within};
  if (to_ <= 0) return now;
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  if (now.share < kLeastShare || now.share >= 1 || seconds < kLeastSeconds) return now;
  now.seconds_left = seconds * (1 - now.share) / now.share;
  return now;
}

std::string time_left_words(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (!(seconds >= 0)) return "";
  const auto about = [](double count, const char* unit) {
    return "about " + std::to_string(std::lround(std::max(count, 1.0))) + " " + unit + " left";
  };
  if (seconds < 10) return about(seconds, "s");
  if (seconds < 1.5 * kMinute) return about(5 * std::round(seconds / 5), "s");  // no more is known
  if (seconds < 1.5 * kHour) return about(seconds / kMinute, "min");
  return about(seconds / kHour, "h");
}

}  // namespace attnscope
