// Eigenvalues and eigenvectors of symmetric matrices.
#pragma once

#include "core/analysis/matrices.h"

namespace attnscope {

struct SymmetricEigen {
  Eigen::VectorXd values;   // ascending
  Eigen::MatrixXd vectors;  // unit vectors in columns; empty unless requested
};

// Decomposes `symmetric` [n, n], of which only the lower triangle is read.
SymmetricEigen symmetric_eigen(const Eigen::MatrixXd& symmetric, bool computes_vectors);

// Singular values of `matrix` [n, m], descending: square roots of the eigenvalues of the smaller
// Gram matrix. Values below 1e-8 of the largest are rounding errors.
std::vector<double> singular_values(const RowMatrix& matrix);

}  // namespace attnscope
