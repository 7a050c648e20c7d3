#include "core/analysis/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr double kNegligible = 1e-12;  // fraction of a row's sum

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
  if (p <= kNegligible) return 0;
  return q > kNegligible ? p * std::log2(p / q) : std::numeric_limits<double>::infinity();
}

double row_divergence(const float* a, const float* b, Index count, Divergence kind) {
  const double sum_a = row_sum(a, count), sum_b = row_sum(b, count);
  if (sum_a == 0 && sum_b == 0) return 0;
  if (sum_a == 0 || sum_b == 0) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (Index j = 0; j < count; ++j) {
    const double p = static_cast<double>(a[j]) / sum_a, q = static_cast<double>(b[j]) / sum_b;
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

std::vector<double> row_divergences(const Tensor& a, const Tensor& b, Divergence kind) {
  check_shapes(a, b);
  const Index keys = a.dim(1);
  std::vector<double> rows;
  for (Index i = 0; i < a.dim(0); ++i) {
    rows.push_back(row_divergence(a.data() + i * keys, b.data() + i * keys, keys, kind));
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
