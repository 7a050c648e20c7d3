#include "core/model/position_share.h"

#include <Eigen/Core>
#include <cmath>

namespace attnscope {

Tensor norm_contribution(const Tensor& position, const Tensor& x, const Tensor& gain, Norm norm,
                         double epsilon) {
  using Row = Eigen::Map<const Eigen::VectorXf>;
  const Index size = x.dim(1);
  const Eigen::VectorXd gains = Row(gain.data(), size).cast<double>();
  Tensor contribution(x.shape());
  for (Index i = 0; i < x.dim(0); ++i) {
    Eigen::VectorXd row = Row(x.data() + i * size, size).cast<double>();
    Eigen::VectorXd position_row = Row(position.data() + i * size, size).cast<double>();
    if (norm == Norm::LayerNorm) {
      row.array() -= row.mean();
      position_row.array() -= position_row.mean();
    }
    const double divisor = std::sqrt(row.squaredNorm() / static_cast<double>(size) + epsilon);
    Eigen::Map<Eigen::VectorXf>(contribution.data() + i * size, size) =
        (position_row.cwiseProduct(gains) / divisor).cast<float>();
  }
  return contribution;
}

}  // namespace attnscope
