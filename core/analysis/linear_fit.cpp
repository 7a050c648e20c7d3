#include "core/analysis/linear_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/analysis/symmetric_eigen.h"

namespace attnscope {
namespace {

// Penalties as fractions of the largest eigenvalue of XᵀX.
constexpr double kMinPenalty = 1e-10, kMaxPenalty = 1e3, kPenaltyStep = 10;
// Smallest 1 − leverage that is not a rounding error: a fit through its rows has no error left.
constexpr double kMinRest = 1e-7;
constexpr double kNoVariance = 1e-13;  // smallest eigenvalue that counts, as such a fraction

// Principal directions of centred inputs and their eigenvalues, without directions of no variance.
struct Directions {
  RowMatrix vectors;       // [d, r]
  Eigen::VectorXd values;  // [r]
};

Directions directions_of(const RowMatrix& x) {
  const bool is_wide = x.cols() > x.rows();
  const Eigen::MatrixXd gram =
      is_wide ? Eigen::MatrixXd(x * x.transpose()) : Eigen::MatrixXd(x.transpose() * x);
  const SymmetricEigen eigen = symmetric_eigen(gram, true);
  const Index size = eigen.values.size();
  const double least = kNoVariance * std::max(0.0, eigen.values[size - 1]);
  Index first = 0;
  while (first < size && !(eigen.values[first] > least)) ++first;
  Directions result;
  result.values = eigen.values.tail(size - first);
  result.vectors = eigen.vectors.rightCols(size - first);
  if (!is_wide) return result;
  const Eigen::VectorXd inverse_lengths = result.values.cwiseSqrt().cwiseInverse();
  const RowMatrix projected = x.transpose() * result.vectors;
  result.vectors = projected * inverse_lengths.asDiagonal();
  return result;
}

// Sum of squared leave-one-out errors; infinite if a row determines its own prediction. scores: x
// in the principal directions [n, r]; products: scoresᵀ y.
double leave_one_out_error(const RowMatrix& scores, const RowMatrix& products, const RowMatrix& y,
                           const Eigen::VectorXd& inverse) {
  const RowMatrix errors = y - scores * (inverse.asDiagonal() * products);
  double sum = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    // The mean has the leverage 1 / n.
    const double leverage =
        scores.row(i).cwiseAbs2().dot(inverse.transpose()) + 1 / static_cast<double>(y.rows());
    const double rest = 1 - leverage;
    if (!(rest > kMinRest)) return std::numeric_limits<double>::infinity();
    sum += errors.row(i).squaredNorm() / (rest * rest);
  }
  return sum;
}

RowMatrix rows_of_parity(const RowMatrix& rows, Index parity) {
  RowMatrix result((rows.rows() + 1 - parity) / 2, rows.cols());
  for (Index i = 0; i < result.rows(); ++i) result.row(i) = rows.row(2 * i + parity);
  return result;
}

}  // namespace

RowMatrix LinearFit::predict(const RowMatrix& inputs) const {
  RowMatrix result = (inputs.rowwise() - from) * weights;
  result.rowwise() += to;
  return result;
}

LinearFit fit_linear(const RowMatrix& inputs, const RowMatrix& outputs) {
  if (inputs.rows() < 2 || inputs.rows() != outputs.rows()) {
    throw std::logic_error("fit_linear: expected at least two rows with an output each");
  }
  LinearFit fit{.weights = RowMatrix::Zero(inputs.cols(), outputs.cols()),
                .from = inputs.colwise().mean(),
                .to = outputs.colwise().mean()};
  const RowMatrix x = inputs.rowwise() - fit.from, y = outputs.rowwise() - fit.to;
  const Directions directions = directions_of(x);
  if (directions.values.size() == 0) return fit;  // equal inputs
  const RowMatrix scores = x * directions.vectors, products = scores.transpose() * y;
  const double largest = directions.values.maxCoeff();
  double least_error = std::numeric_limits<double>::infinity();
  Eigen::VectorXd best;
  for (double share = kMinPenalty; share <= kMaxPenalty * 1.01; share *= kPenaltyStep) {
    const Eigen::VectorXd inverse =
        (directions.values.array() + share * largest).inverse().matrix();
    const double error = leave_one_out_error(scores, products, y, inverse);
    if (!(error < least_error)) continue;
    least_error = error;
    best = inverse;
    fit.penalty = share * largest;
  }
  if (best.size() > 0) fit.weights = directions.vectors * (best.asDiagonal() * products);
  return fit;
}

RowMatrix held_out_predictions(const RowMatrix& inputs, const RowMatrix& outputs) {
  RowMatrix result(outputs.rows(), outputs.cols());
  for (const Index parity : {0, 1}) {
    const LinearFit fit =
        fit_linear(rows_of_parity(inputs, 1 - parity), rows_of_parity(outputs, 1 - parity));
    const RowMatrix predictions = fit.predict(rows_of_parity(inputs, parity));
    for (Index i = 0; i < predictions.rows(); ++i) result.row(2 * i + parity) = predictions.row(i);
  }
  return result;
}

double explained_variance(const RowMatrix& outputs, const RowMatrix& predictions) {
  const Eigen::RowVectorXd mean = outputs.colwise().mean();
  const double variance = (outputs.rowwise() - mean).squaredNorm();
  return variance > 0 ? 1 - (outputs - predictions).squaredNorm() / variance : 0;
}

}  // namespace attnscope
