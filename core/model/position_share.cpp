#include "core/model/position_share.h"

#include <Eigen/Core>
#include <cmath>

namespace attnscope {

Tensor norm_contribution(const Tensor& position, const Tensor& x, const Tensor& gain, Norm norm,
                         double epsilon) {
  using Row = Eigen::Map<const Eigen::VectorXf>;
  const Index size = x.dim(1);
  const Eigen::VectorXd gains = Row(gain.data(), size).cast<double>();
  Tensor share(x.shape());
  for (Index i = 0; i < x.dim(0); ++i) {
    Eigen::VectorXd whole = Row(x.data() + i * size, size).cast<double>();
    Eigen::VectorXd part = Row(position.data() + i * size, size).cast<double>();
    if (norm == Norm::LayerNorm) {
      whole.array() -= whole.mean();
      part.array() -= part.mean();
    }
    const double length = std::sqrt(whole.squaredNorm() / static_cast<double>(size) + epsilon);
    Eigen::Map<Eigen::VectorXf>(share.data() + i * size, size) =
        (part.cwiseProduct(gains) / length).cast<float>();
  }
  return share;
}

}  // namespace attnscope
