#include "core/position/t5_bucket.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace attnscope {
namespace {

// base^exponent, or -1 beyond the range of Index.
Index power(Index base, Index exponent) {
  Index result = 1;
  for (Index n = 0; n < exponent && result != 0; ++n) {
    if (__builtin_mul_overflow(result, base, &result)) return -1;
    if (base == 1) break;
  }
  return result;
}

// True if x^a = y^b for coprime a and b, b > 0; equality implies x = c^b, y = c^a for an integer c.
bool powers_are_equal(Index x, Index a, Index y, Index b) {
  if (a == 0) return y == 1;
  const auto root = static_cast<Index>(
      std::llround(std::pow(static_cast<double>(x), 1.0 / static_cast<double>(b))));
  return power(root, b) == x && power(root, a) == y;
}

// True if steps * log(n / e) / log(max / e) equals `integer`: (max / e)^integer = (n / e)^steps.
bool equals_exactly(Index integer, Index n, Index e, Index max, Index steps) {
  const Index exponents = std::gcd(integer, steps), by_max = std::gcd(max, e),
              by_n = std::gcd(n, e);
  return powers_are_equal(max / by_max, integer / exponents, n / by_n, steps / exponents) &&
         powers_are_equal(e / by_max, integer / exponents, e / by_n, steps / exponents);
}

}  // namespace

Index t5_bucket(const T5Buckets& buckets, Index key_minus_query) {
  Index remaining = buckets.count, first = 0, distance = std::max<Index>(-key_minus_query, 0);
  if (buckets.bidirectional) {
    remaining /= 2;
    distance = std::abs(key_minus_query);
    if (key_minus_query > 0) first = remaining;
  }
  const Index exact = remaining / 2;
  if (distance < exact) return first + distance;
  if (distance >= buckets.max_distance) return first + remaining - 1;
  const Index steps = remaining - exact;
  const double logarithmic =
      std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
      std::log(static_cast<double>(buckets.max_distance) / static_cast<double>(exact)) *
      static_cast<double>(steps);
  const auto nearest = static_cast<Index>(std::llround(logarithmic));
  const bool is_integer = std::abs(logarithmic - static_cast<double>(nearest)) < 1e-6 &&
                          equals_exactly(nearest, distance, exact, buckets.max_distance, steps);
  const Index step = is_integer ? nearest : static_cast<Index>(std::floor(logarithmic));
  return first + std::min(remaining - 1, exact + step);
}

}  // namespace attnscope
