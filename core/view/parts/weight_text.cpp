#include "core/view/parts/weight_text.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"

namespace attnscope {

std::string weight_text(double value, double largest) {
  constexpr int kMinDecimals = 2, kMaxDecimals = 4;
  constexpr double kMany = 100;
  if (!(largest > 0)) return fixed(value, kMinDecimals);
  const int needed = 1 - static_cast<int>(std::floor(std::log10(largest)));
  if (needed > kMaxDecimals || largest >= kMany) return value == 0 ? "" : brief(value, 1);
  const int decimals = std::max(kMinDecimals, needed);
  const bool is_zero = std::abs(value) < 0.5 * std::pow(10, -decimals);
  return is_zero ? "" : fixed(value, decimals);
}

}  // namespace attnscope
