#include "core/figure/ticks.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

double round_step(double range, int count) {
  const double rough = range / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= rough * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::vector<double> round_ticks(double minimum, double maximum, int count) {
  std::vector<double> ticks;
  if (!(minimum < maximum) || !std::isfinite(maximum - minimum)) return ticks;
  const double step = round_step(maximum - minimum, count);
  const double slack = 1e-9 * (maximum - minimum);
  for (double n = std::ceil((minimum - slack) / step); n * step <= maximum + slack; ++n) {
    ticks.push_back(n == 0 ? 0.0 : n * step);
  }
  return ticks;
}

std::string tick_text(double value, double step) {
  constexpr double kMinPlain = 1e-4, kMaxPlain = 1e5;
  if (value == 0) return "0";
  if (step < kMinPlain || std::abs(value) >= kMaxPlain) return brief(value, 2);
  const int decimals = static_cast<int>(std::max(0.0, std::ceil(-std::log10(step) - 1e-9)));
  return fixed(value, decimals);
}

}  // namespace attnscope
