#include "core/analysis/settling.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/analysis/symmetric_eigen.h"

namespace attnscope {
namespace {

// Row `row` of head `pair` of [h, L, d].
Eigen::RowVectorXd row_at(const Tensor& tensor, Index pair, Index row) {
  Eigen::RowVectorXd result(tensor.dim(2));
  for (Index i = 0; i < tensor.dim(2); ++i) result[i] = static_cast<double>(tensor(pair, row, i));
  return result;
}

}  // namespace

std::string settling_refusal(const AttentionTap& tap) {
  if (!tap.result.extra_counts.contains("hopfield.steps")) {
    return "This method does not iterate its queries.";
  }
  const Shape &q = tap.shapes().input.q, &k = tap.shapes().input.k;
  if (q.empty() || k.empty() || q[1] != tap.queries() || k[1] != tap.keys() ||
      tap.settings() == nullptr) {
    return "Queries and keys were not stored.";
  }
  return {};
}

Settling settling_of(const AttentionTap& tap, Index head, Index query) {
  if (!settling_refusal(tap).empty()) throw std::logic_error("this head has no Hopfield iteration");
  Settling result;
  result.beta = static_cast<double>(tap.settings()->scale);
  const Pattern& pattern = *tap.result.pattern;
  for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, query)) {
    for (Index j = run.begin; j < run.end; j += run.step) result.keys.push_back(j);
  }
  const auto [q, k, v] = tap.input();
  const Index count = static_cast<Index>(result.keys.size()), size = q.dim(2);
  const Index kv = head * k.dim(0) / q.dim(0);
  RowMatrix patterns(count, size);
  for (Index n = 0; n < count; ++n) {
    patterns.row(n) = row_at(k, kv, result.keys[static_cast<std::size_t>(n)]);
  }
  const Index steps = count > 0 ? tap.result.extra_counts.at("hopfield.steps")(head, query) : 0;
  RowMatrix states(steps + 1, size);
  states.row(0) = row_at(q, head, query);
  result.weights = Tensor::zeros({steps, tap.keys()});
  for (Index t = 0; t <= steps && count > 0; ++t) {
    const Eigen::VectorXd scores = result.beta * patterns * states.row(t).transpose();
    const double max_score = scores.maxCoeff();
    const Eigen::VectorXd powers = (scores.array() - max_score).exp();
    if (result.beta > 0) {
      result.energy.push_back(states.row(t).squaredNorm() / 2 -
                              (max_score + std::log(powers.sum())) / result.beta);
    }
    if (t == steps) break;
    const Eigen::VectorXd weights = powers / powers.sum();
    states.row(t + 1) = weights.transpose() * patterns;
    for (Index n = 0; n < count; ++n) {
      result.weights(t, result.keys[static_cast<std::size_t>(n)]) = static_cast<float>(weights[n]);
    }
    Index best = 0;
    weights.maxCoeff(&best);
    result.nearest = result.keys[static_cast<std::size_t>(best)];
  }
  result.patterns = tensor_of(patterns);
  result.states = tensor_of(states);
  return result;
}

Plane::Plane(const Tensor& rows) {
  const RowMatrix points = matrix_of(rows);
  const Eigen::RowVectorXd mean = points.colwise().mean();
  const RowMatrix centred = points.rowwise() - mean;
  const Eigen::MatrixXd covariance = centred.transpose() * centred;
  const SymmetricEigen eigen = symmetric_eigen(covariance, true);
  const Index size = rows.dim(1);
  const auto direction = [&](Index n) {  // n-th principal component; its largest entry is positive
    Eigen::VectorXd result = Eigen::VectorXd::Zero(size);
    if (n < size) result = eigen.vectors.col(size - 1 - n);
    Index largest = 0;
    result.cwiseAbs().maxCoeff(&largest);
    if (result[largest] < 0) result = -result;
    return std::vector<double>(result.begin(), result.end());
  };
  mean_.assign(mean.begin(), mean.end());
  first_ = direction(0);
  second_ = direction(1);
  const double sum = eigen.values.sum();
  const double first_two = eigen.values.tail(std::min<Index>(2, size)).sum();
  explained_ = sum > 0 ? std::clamp(first_two / sum, 0.0, 1.0) : 1;
}

std::vector<std::pair<double, double>> Plane::project(const Tensor& rows) const {
  std::vector<std::pair<double, double>> result;
  for (Index row = 0; row < rows.dim(0); ++row) {
    double x = 0, y = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double offset = static_cast<double>(rows(row, static_cast<Index>(i))) - mean_[i];
      x += offset * first_[i];
      y += offset * second_[i];
    }
    result.emplace_back(x, y);
  }
  return result;
}

}  // namespace attnscope
