#include "core/model/position_share.h"

#include <gtest/gtest.h>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::random_tensor;

TEST(PositionShare, AddsUpToTheNorm) {
  const Tensor content = random_tensor({5, 6}, 1), position = random_tensor({5, 6}, 2);
  const Tensor gain = random_tensor({6}, 3), zero_bias = Tensor::zeros({6});
  const Tensor x = add(Var(content), Var(position)).value();
  const auto sum = [&](Norm norm) {
    return add(Var(norm_contribution(content, x, gain, norm, 1e-5)),
               Var(norm_contribution(position, x, gain, norm, 1e-5)))
        .value();
  };
  EXPECT_TRUE(close(sum(Norm::RmsNorm), rms_norm(Var(x), Var(gain), 1e-5).value(), 1e-5));
  EXPECT_TRUE(close(sum(Norm::LayerNorm),
                    layer_norm(Var(x), Var(gain), Var(zero_bias), 1e-5).value(), 1e-5));
}

TEST(PositionShare, IsLinearInPosition) {
  const Tensor x = random_tensor({3, 4}, 1), position = random_tensor({3, 4}, 2);
  const Tensor gain = random_tensor({4}, 3);
  const Tensor once = norm_contribution(position, x, gain, Norm::LayerNorm, 1e-5);
  const Tensor twice =
      norm_contribution(scale(Var(position), 2).value(), x, gain, Norm::LayerNorm, 1e-5);
  EXPECT_TRUE(close(twice, scale(Var(once), 2).value(), 1e-6));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
