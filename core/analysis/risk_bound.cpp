#include "core/analysis/risk_bound.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

double entropy_term(double a, double b) {  // a ln(a/b), 0 at 0
  return a > 0 ? a * std::log(a / b) : 0;
}

// P(Bin(n, p) <= max), summed from the logarithms of its terms.
double binomial_at_most(Index max, Index n, double p) {
  if (max >= n) return 1;
  const auto size = static_cast<double>(n);
  double sum = 0;
  for (Index k = 0; k <= max; ++k) {
    const auto hits = static_cast<double>(k);
    sum += std::exp(std::lgamma(size + 1) - std::lgamma(hits + 1) - std::lgamma(size - hits + 1) +
                    hits * std::log(p) + (size - hits) * std::log1p(-p));
  }
  return std::min(sum, 1.0);
}

}  // namespace

double hoeffding_bentkus(double mean, Index count, double tolerance) {
  if (count < 1 || !(tolerance > 0) || !(mean >= 0)) return 1;
  if (tolerance >= 1) return 0;
  const auto n = static_cast<double>(count);
  const double a = std::min(mean, tolerance);
  const double hoeffding =
      std::exp(-n * (entropy_term(a, tolerance) + entropy_term(1 - a, 1 - tolerance)));
  // Subtracting 1e-9 absorbs rounding errors, so that integers are not rounded up.
  const auto hits = static_cast<Index>(std::ceil(n * mean - 1e-9));
  const double bentkus = std::numbers::e * binomial_at_most(hits, count, tolerance);
  return std::min({hoeffding, bentkus, 1.0});
}

}  // namespace attnscope
