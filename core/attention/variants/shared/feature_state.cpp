// Recurrent state of kernel attention (Katharopoulos et al., 2020, section 3.4).
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "core/attention/variants/shared/scaled_rows.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr Index kMaxFeatures = Index{1} << 22;  // maximum size of reported features
constexpr double kMaxExponent = 30;             // sums of larger exponentials may overflow float32

// φ [heads, rows, size], divided by the largest exponential of the row or of the head, unless the
// exponent of that exponential is within ±kMaxExponent.
Tensor scaled_features(const Features& features, Index heads, bool by_row) {
  const ScaledRows phi(features);
  Tensor result({heads, phi.rows, phi.size});
  for (Index head = 0; head < heads; ++head) {
    const Index first = head * phi.rows;
    const auto exponent_base = [&](Index begin, Index count) {
      double maximum = phi.exponent(begin, 0);
      for (Index row = begin; row < begin + count; ++row) {
        for (Index t = 0; t < phi.size; ++t) maximum = std::max(maximum, phi.exponent(row, t));
      }
      return std::abs(maximum) <= kMaxExponent ? 0 : maximum;
    };
    const double head_base = by_row ? 0 : exponent_base(first, phi.rows);
    for (Index row = first; row < first + phi.rows; ++row) {
      check_stop();
      const double base = by_row ? exponent_base(row, 1) : head_base;
      for (Index t = 0; t < phi.size; ++t) {
        result[row * phi.size + t] = static_cast<float>(features.factor * phi.mantissa(row, t) *
                                                        std::exp(phi.exponent(row, t) - base));
      }
    }
  }
  return result;
}

bool is_finite(const Tensor& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

void add_features(OperationResult& result, const Features& q, const Features& k, Index heads) {
  const Index rows = std::max(q.plain.dim(1), k.plain.dim(1));
  if (heads * rows * k.plain.dim(2) > kMaxFeatures) return;
  const Tensor queries = scaled_features(q, heads, true), keys = scaled_features(k, heads, false);
  if (!is_finite(queries) || !is_finite(keys)) return;
  result.extra["features.q"] = queries;
  result.extra["features.k"] = keys;
}

void add_state(OperationResult& result, const OperationInput& input, const Features& k) {
  const ScaledRows rows(k);
  const Tensor& v = input.v.value();
  const Index size = v.dim(2), last = result.pattern->queries() - 1;
  const Index heads_per_key = input.heads / input.kv_heads;
  Tensor state({input.heads, rows.size, size});  // [h, D, d_v]
  parallel_for(input.heads, 1, [&](Index first, Index end) {
    for (Index head = first; head < end; ++head) {
      Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(rows.size, size);
      Eigen::VectorXd feature(rows.size), value(size);
      for (const Run& run : result.pattern->row(head, last)) {
        for (Index j = run.begin; j < run.end && !is_stopping(); j += run.step) {
          const Index key = head * rows.rows + j;
          for (Index t = 0; t < rows.size; ++t) {
            feature[t] = k.factor * rows.mantissa(key, t) * std::exp(rows.exponent(key, t));
          }
          const float* from = v.data() + (head / heads_per_key * v.dim(1) + j) * size;
          for (Index c = 0; c < size; ++c) value[c] = from[c];
          sum.noalias() += feature * value.transpose();
        }
      }
      for (Index t = 0; t < rows.size; ++t) {
        for (Index c = 0; c < size; ++c) state(head, t, c) = static_cast<float>(sum(t, c));
      }
    }
  });
  for (const float x : state) {
    if (std::isfinite(x)) continue;
    result.remarks.emplace_back("state: beyond the range of float32, left out");
    return;
  }
  result.extra["state"] = state;
}

}  // namespace attnscope
