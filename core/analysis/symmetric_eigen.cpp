#include "core/analysis/symmetric_eigen.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace attnscope {

SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric, bool computes_vectors) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(
      symmetric, computes_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
  return {solver.eigenvalues(), computes_vectors ? solver.eigenvectors() : Eigen::MatrixXd()};
}

std::vector<double> singular_values(const RowMatrix& matrix) {
  const bool is_wide = matrix.cols() > matrix.rows();
  const Eigen::MatrixXd gram =
      is_wide ? matrix * matrix.transpose() : Eigen::MatrixXd(matrix.transpose() * matrix);
  const Eigen::VectorXd squares = symmetric_eigen(gram, false).values;
  std::vector<double> result;
  for (Index n = squares.size(); n-- > 0;) result.push_back(std::sqrt(std::max(0.0, squares[n])));
  return result;
}

}  // namespace attnscope
