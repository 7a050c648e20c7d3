// Conversion between tensors and Eigen matrices in double precision.
#pragma once

#include <Eigen/Core>

#include "core/tensor/tensor.h"

namespace attnscope {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline RowMatrix matrix_of(const Tensor& rows) {  // [n, d]
  RowMatrix result(rows.dim(0), rows.dim(1));
  for (Index i = 0; i < rows.size(); ++i) result.data()[i] = static_cast<double>(rows[i]);
  return result;
}

inline Tensor tensor_of(const RowMatrix& rows) {
  Tensor result({rows.rows(), rows.cols()});
  for (Index i = 0; i < result.size(); ++i) result[i] = static_cast<float>(rows.data()[i]);
  return result;
}

}  // namespace attnscope
