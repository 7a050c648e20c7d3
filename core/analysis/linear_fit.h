// Linear regression with an intercept and an L2 penalty ("ridge regression"). Of a range of
// penalties, the one with the smallest leave-one-out error is used (Hastie et al., 2009, section
// 7.10).
#pragma once

#include "core/analysis/matrices.h"

namespace attnscope {

struct LinearFit {
  RowMatrix weights;                                 // [d, m]
  Eigen::RowVectorXd from, to;                       // means of inputs [d] and outputs [m]
  double penalty = 0;                                // λ
  RowMatrix predict(const RowMatrix& inputs) const;  // [n, d] -> [n, m]
};
// inputs [n, d], outputs [n, m]; n >= 2. Throws std::logic_error for other shapes.
LinearFit fit_linear(const RowMatrix& inputs, const RowMatrix& outputs);

// Held-out prediction of every row: even rows by a fit on the odd ones, and the reverse.  [n, m]
RowMatrix held_out_predictions(const RowMatrix& inputs, const RowMatrix& outputs);

// R² = 1 − Σ (y − ŷ)² / Σ (y − mean)²: 1 for perfect predictions, at most 0 without information.
double explained_variance(const RowMatrix& outputs, const RowMatrix& predictions);

}  // namespace attnscope
