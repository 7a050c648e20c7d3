#include "core/attention/variants/shared/feature_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/variants/shared/scaled_rows.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Gradients of mantissas m and exponents e, of the queries or of the keys.
struct ScaledGradients {
  explicit ScaledGradients(const ScaledRows& rows)
      : mantissa(static_cast<std::size_t>(rows.pairs * rows.rows * rows.size)),
        exponents(static_cast<std::size_t>(rows.pairs * rows.rows * rows.exponents_per_row)) {}

  void deliver(const Var& to_mantissa, const Var& to_exponents) const {
    for (const auto& [to, numbers] :
         {std::pair(&to_mantissa, &mantissa), std::pair(&to_exponents, &exponents)}) {
      if (!to->requires_gradient()) continue;
      Tensor gradient(to->shape());
      std::transform(numbers->begin(), numbers->end(), gradient.begin(),
                     [](double x) { return static_cast<float>(x); });
      accumulate(*to, gradient);
    }
  }

  std::vector<double> mantissa, exponents;
};

class FeatureWeights {
 public:
  FeatureWeights(const Features& q, const Features& k, std::shared_ptr<const Pattern> pattern,
                 Index heads)
      : q_(q), k_(k), pattern_(std::move(pattern)), heads_(heads) {}

  Tensor forward() const {
    Tensor weights = Tensor::zeros({q_.pairs, q_.rows, k_.rows});  // [B h, L_q, L_k]
    parallel_for(q_.pairs * q_.rows, 1, [&](Index first, Index last) {
      std::vector<double> w(static_cast<std::size_t>(k_.rows));
      for (Index row = first; row < last && !is_stopping(); ++row) {
        const double sum = compute_row(row, w);
        float* to = weights.data() + row * k_.rows;
        each_key(row, [&](Index j) {
          to[j] = sum == 0 ? 0 : static_cast<float>(w[static_cast<std::size_t>(j)] / sum);
        });
      }
    });
    check_stop();
    return weights;
  }

  // gradient: [B h, L_q, L_k]; inputs: q.mantissa, q.exponents, k.mantissa, k.exponents.
  void backward(const Tensor& gradient, const std::vector<Var>& inputs) const {
    ScaledGradients d_q(q_), d_k(k_);
    parallel_for(q_.pairs, 1, [&](Index first, Index last) {
      std::vector<double> w(static_cast<std::size_t>(k_.rows));
      for (Index row = first * q_.rows; row < last * q_.rows; ++row) {
        const double sum = compute_row(row, w), maximum = largest_exponent(row);
        if (sum == 0) continue;
        const float* d = gradient.data() + row * k_.rows;
        double mean = 0;
        each_key(row, [&](Index j) {
          mean += static_cast<double>(d[j]) * w[static_cast<std::size_t>(j)] / sum;
        });
        each_key(row, [&](Index j) {
          add_gradients(row, key_row(row, j), maximum, (static_cast<double>(d[j]) - mean) / sum,
                        d_q, d_k);
        });
      }
    });
    d_q.deliver(inputs[0], inputs[1]);
    d_k.deliver(inputs[2], inputs[3]);
  }

 private:
  bool shares_exponent() const { return q_.shares_exponent() && k_.shares_exponent(); }
  Index key_row(Index row, Index j) const { return row / q_.rows * k_.rows + j; }

  template <class Body>
  void each_key(Index row, Body&& body) const {
    for (const Run& run : pattern_->row(row / q_.rows % heads_, row % q_.rows)) {
      for (Index j = run.begin; j < run.end; j += run.step) body(j);
    }
  }

  // Calls body(t, exp(e_it + e'_jt - maximum)) for each feature.
  template <class Body>
  void each_feature(Index row, Index key, double maximum, Body&& body) const {
    const bool shared = shares_exponent();
    double power = 0;
    for (Index t = 0; t < q_.size; ++t) {
      if (t == 0 || !shared) power = std::exp(q_.exponent(row, t) + k_.exponent(key, t) - maximum);
      body(t, power);
    }
  }

  // E_i, the largest exponent of an allowed pair of the row.
  double largest_exponent(Index row) const {
    double maximum = -std::numeric_limits<double>::infinity();
    each_key(row, [&](Index j) {
      for (Index t = 0; t < (shares_exponent() ? 1 : q_.size); ++t) {
        maximum = std::max(maximum, q_.exponent(row, t) + k_.exponent(key_row(row, j), t));
      }
    });
    return maximum;
  }

  // Sets w for the keys visible to the row, and returns the sum of these weights.
  double compute_row(Index row, std::vector<double>& w) const {
    const double maximum = largest_exponent(row);
    const bool has_one_power = q_.has_mantissas() && k_.has_mantissas() && shares_exponent();
    double sum = 0;
    each_key(row, [&](Index j) {
      const Index key = key_row(row, j);
      double& pair_weight = w[static_cast<std::size_t>(j)];
      if (has_one_power) {
        pair_weight = std::exp(q_.exponent(row, 0) + k_.exponent(key, 0) - maximum) *
                      q_.product(row, k_, key);
        sum += pair_weight;
        return;
      }
      pair_weight = 0;
      each_feature(row, key, maximum, [&](Index t, double power) {
        pair_weight += q_.mantissa(row, t) * k_.mantissa(key, t) * power;
      });
      sum += pair_weight;
    });
    return sum;
  }

  void add_gradients(Index row, Index key, double maximum, double g, ScaledGradients& d_q,
                     ScaledGradients& d_k) const {
    each_feature(row, key, maximum, [&](Index t, double power) {
      const double q_mantissa = q_.mantissa(row, t), k_mantissa = k_.mantissa(key, t);
      d_q.mantissa[static_cast<std::size_t>(row * q_.size + t)] += g * k_mantissa * power;
      d_k.mantissa[static_cast<std::size_t>(key * k_.size + t)] += g * q_mantissa * power;
      const double term_gradient = g * q_mantissa * k_mantissa * power;
      const auto add_exponent = [&](const ScaledRows& rows, ScaledGradients& to, Index index) {
        if (rows.exponents_per_row > 0) {
          to.exponents[static_cast<std::size_t>(rows.exponent_index(index, t))] += term_gradient;
        }
      };
      add_exponent(q_, d_q, row);
      add_exponent(k_, d_k, key);
    });
  }

  const ScaledRows q_, k_;
  const std::shared_ptr<const Pattern> pattern_;
  const Index heads_;
};

}  // namespace

Var feature_weights(const Features& q, const Features& k,
                    const std::shared_ptr<const Pattern>& pattern, Index heads) {
  const auto weights = std::make_shared<const FeatureWeights>(q, k, pattern, heads);
  return record("feature_weights", weights->forward(),
                {q.mantissa, q.exponents, k.mantissa, k.exponents},
                [weights](const Tensor& gradient, const std::vector<Var>& inputs) {
                  weights->backward(gradient, inputs);
                });
}

}  // namespace attnscope
