#include "core/analysis/position_study.h"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/analysis/linear_fit.h"
#include "core/analysis/symmetric_eigen.h"
#include "core/base/random.h"
#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

constexpr double kNoLength = 1e-10;  // smallest share of the squared length that counts

// Frequencies of a sinusoidal encoding; empty for other encodings.
std::vector<double> frequencies_of(const EncodingUse& use) {
  if (use.encoding.id != "sinusoidal") return {};
  if (const Var* stored = find_weight(use.weights, "pos.frequency")) {
    return {stored->value().begin(), stored->value().end()};
  }
  const double base = learned_base(use.weights).value_or(use.encoding.values.real("base"));
  return sinusoid_frequencies(use.dimensions.model, base);
}

RowMatrix shift_rotation(const std::vector<double>& frequencies, Index shift, bool sines_first) {
  const auto waves = static_cast<Index>(frequencies.size());
  RowMatrix map = RowMatrix::Zero(2 * waves, 2 * waves);
  for (Index t = 0; t < waves; ++t) {
    const double angle = static_cast<double>(shift) * frequencies[static_cast<std::size_t>(t)];
    const Index sine = sines_first ? t : 2 * t, cosine = sines_first ? waves + t : 2 * t + 1;
    map(sine, sine) = std::cos(angle);
    map(sine, cosine) = std::sin(angle);
    map(cosine, sine) = -std::sin(angle);
    map(cosine, cosine) = std::cos(angle);
  }
  return map;
}

}  // namespace

PositionShift position_shift(const EncodingUse& use, const RowMatrix& vectors, Index shift) {
  const Index count = vectors.rows() - shift;
  PositionShift result;
  result.from = vectors.topRows(count);
  result.to = vectors.bottomRows(count);
  const std::vector<double> frequencies = frequencies_of(use);
  result.is_exact = !frequencies.empty();
  if (result.is_exact) {
    const bool sines_first = use.encoding.values.choice("style") == "half";
    result.map = shift_rotation(frequencies, shift, sines_first);
    result.predicted = result.from * result.map.transpose();
  } else {
    result.map = fit_linear(result.from, result.to).weights.transpose();
    result.predicted = held_out_predictions(result.from, result.to);
  }
  return result;
}

RowMatrix leading_directions(const RowMatrix& vectors) {
  const SymmetricEigen eigen = symmetric_eigen(vectors.transpose() * vectors, true);
  const double least = kNoLength * std::max(0.0, eigen.values.sum());
  const Index largest = std::min(vectors.rows(), vectors.cols());
  Index count = 0;
  while (count < largest && eigen.values[eigen.values.size() - 1 - count] > least) ++count;
  return eigen.vectors.rightCols(count).rowwise().reverse().transpose();
}

std::vector<double> cumulative_shares(const RowMatrix& vectors, const RowMatrix& directions) {
  const double total = vectors.squaredNorm();
  std::vector<double> shares{0};
  for (Index k = 0; k < directions.rows(); ++k) {
    const double within = (vectors * directions.row(k).transpose()).squaredNorm();
    shares.push_back(shares.back() + (total > 0 ? within / total : 0));
  }
  return shares;
}

std::vector<double> principal_angles(const RowMatrix& a, const RowMatrix& b) {
  std::vector<double> angles;
  for (const double cosine : singular_values(a * b.transpose())) {
    angles.push_back(std::acos(std::clamp(cosine, 0.0, 1.0)) * 180 / std::numbers::pi);
  }
  return angles;
}

RowMatrix random_directions(Index count, Index d, std::uint64_t seed) {
  Random random(seed);
  Eigen::MatrixXd columns(d, count);
  for (Index i = 0; i < columns.size(); ++i) columns.data()[i] = random.normal();
  const Eigen::HouseholderQR<Eigen::MatrixXd> decomposition(columns);
  const Eigen::MatrixXd q = decomposition.householderQ() * Eigen::MatrixXd::Identity(d, count);
  return q.transpose();
}

}  // namespace attnscope
