#include "core/analysis/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace attnscope {
namespace {

// Weight of an allowed pair that underflowed.
constexpr double kUnderflow = static_cast<double>(std::numeric_limits<float>::denorm_min());

void check_shapes(const Tensor& a, const Tensor& b) {
  if (a.rank() == 2 && a.shape() == b.shape()) return;
  throw InputError("comparison of maps: expected two maps of the same shape, found " +
                   to_string(a.shape()) + " and " + to_string(b.shape()));
}

double row_sum(const float* row, Index count) {
  double sum = 0;
  for (Index j = 0; j < count; ++j) {
    if (!(row[j] >= 0)) {
      throw InputError("divergence: expected non-negative weights, found " +
                       std::to_string(row[j]));
    }
    sum += static_cast<double>(row[j]);
  }
  return sum;
}

// p log2(p / q)
double term(double p, double q) {
  if (p == 0) return 0;
  return q > 0 ? p * std::log2(p / q) : std::numeric_limits<double>::infinity();
}

// A row of a map. `rules` has NaN for excluded pairs; null: pairs with weight 0 are excluded.
struct Row {
  const float* weights = nullptr;
  const float* rules = nullptr;
  double sum = 0;
  // Fraction of the row's sum on key j; positive if the pair is allowed.
  double share(Index j) const {
    const bool is_underflow = weights[j] == 0 && rules != nullptr && !std::isnan(rules[j]);
    return (is_underflow ? kUnderflow : static_cast<double>(weights[j])) / sum;
  }
};

Row row_of(const Tensor& map, const Tensor& rules, Index i) {
  const Index keys = map.dim(1);
  const float* weights = map.data() + i * keys;
  return {weights, rules.defined() ? rules.data() + i * keys : nullptr, row_sum(weights, keys)};
}

double row_divergence(const Row& a, const Row& b, Index count, Divergence kind) {
  if (a.sum == 0 && b.sum == 0) return 0;
  if (a.sum == 0 || b.sum == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (Index j = 0; j < count; ++j) {
    const double p = a.share(j), q = b.share(j);
    switch (kind) {
      case Divergence::KullbackLeibler:
        sum += term(p, q);
        break;
      case Divergence::Reverse:
        sum += term(q, p);
        break;
      case Divergence::JensenShannon:
        sum += (term(p, (p + q) / 2) + term(q, (p + q) / 2)) / 2;
        break;
    }
  }
  return std::max(0.0, sum);  // rounding can make the sum negative
}

}  // namespace

std::vector<double> row_divergences(const Tensor& a, const Tensor& b, Divergence kind,
                                    const AllowedPairs& allowed) {
  check_shapes(a, b);
  for (const Tensor* rules : {&allowed.a, &allowed.b}) {
    if (rules->defined()) check_shapes(a, *rules);
  }
  std::vector<double> rows;
  for (Index i = 0; i < a.dim(0); ++i) {
    rows.push_back(
        row_divergence(row_of(a, allowed.a, i), row_of(b, allowed.b, i), a.dim(1), kind));
  }
  return rows;
}

Tensor difference(const Tensor& a, const Tensor& b) {
  check_shapes(a, b);
  Tensor result(a.shape());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), std::minus<>());
  return result;
}

}  // namespace attnscope
