// Every architecture with every residual connection, variant and encoding, on both backends.
#include "tests/support/model_sweep.h"

#include <gtest/gtest.h>

#include "app/gpu/compute_backend.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::SweptModel;
using testing::SweptPair;

class GpuModelSweep : public ::testing::TestWithParam<SweptPair> {};

TEST_P(GpuModelSweep, MatchesCpu) {
  ComputeBackend gpu(make_headless_context());
  const int swept = testing::sweep_models(GetParam(), [&](const SweptModel& one) {
    SCOPED_TRACE(one.name);
    ForwardOptions on_gpu;
    on_gpu.backend = &gpu;
    try {
      EXPECT_TRUE(testing::close(run(one.model, one.batch, on_gpu).logits.value(),
                                 run(one.model, one.batch, {}).logits.value(), 1e-4));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  });
  EXPECT_GT(swept, 0);
  EXPECT_GT(gpu.dispatch_count(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, GpuModelSweep, ::testing::ValuesIn(testing::swept_pairs()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
