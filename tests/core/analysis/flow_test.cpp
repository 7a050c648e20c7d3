#include "core/analysis/flow.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

TEST(Rollout, OneLayerIsTheMeanWithTheResidual) {
  const Tensor a = Tensor::from({2, 2}, {1, 0, 0.5f, 0.5f});
  EXPECT_TRUE(testing::close(attention_rollout({a}), Tensor::from({2, 2}, {1, 0, 0.25f, 0.75f})));
}

TEST(Rollout, LaterLayersMultiplyFromTheLeft) {
  const Tensor first = Tensor::from({2, 2}, {1, 0, 1, 0});   // with residual: 1 0 / .5 .5
  const Tensor second = Tensor::from({2, 2}, {0, 1, 0, 1});  // with residual: .5 .5 / 0 1
  EXPECT_TRUE(testing::close(attention_rollout({first, second}),
                             Tensor::from({2, 2}, {0.75f, 0.25f, 0.5f, 0.5f})));
}

TEST(Rollout, AMaskedRowKeepsItself) {
  EXPECT_TRUE(testing::close(attention_rollout({Tensor::zeros({2, 2})}),
                             Tensor::from({2, 2}, {1, 0, 0, 1})));
}

TEST(Rollout, RefusesMapsThatAreNotSquareOrDiffer) {
  EXPECT_THROW(attention_rollout({}), InputError);
  EXPECT_THROW(attention_rollout({Tensor::zeros({2, 3})}), InputError);
  EXPECT_THROW(attention_rollout({Tensor::zeros({2, 2}), Tensor::zeros({3, 3})}), InputError);
}

// A band of width 1 reaches one more position a layer.
TEST(Reachability, ABandWidensByItsWindowEachLayer) {
  PatternBuilder builder(1, 6, 6, {"window"});
  for (Index i = 0; i < 6; ++i) {
    builder.add(0, i - 1, i + 1);
    builder.next_row();
  }
  const Pattern band = builder.finish();
  const IntTensor heard = reachability({{&band}, {&band}, {&band}});
  for (Index i = 0; i < 6; ++i) {
    for (Index j = 0; j < 6; ++j) {
      const Index distance = i - j;
      EXPECT_EQ(heard(i, j), distance < 0 || distance > 3 ? -1 : distance) << i << " " << j;
    }
  }
}

TEST(Reachability, RefusesPatternsOfOtherSizes) {
  const Pattern small = Pattern::all(2, 2), large = Pattern::all(3, 3);
  EXPECT_THROW(reachability({{&small}, {&large}}), InputError);
  EXPECT_THROW(reachability({}), InputError);
}

}  // namespace
}  // namespace attnscope
