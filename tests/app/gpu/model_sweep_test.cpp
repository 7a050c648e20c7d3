// Every architecture with every residual connection, variant and encoding, on both backends.
#include "tests/support/model_sweep.h"

#include <gtest/gtest.h>

#include "app/gpu/compute_backend.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::SweepModel;
using testing::SweepPair;

class GpuModelSweep : public ::testing::TestWithParam<SweepPair> {};

TEST_P(GpuModelSweep, MatchesCpu) {
  ComputeBackend gpu(make_headless_context());
  // Repeated layers without residual connection enlarge differences in small states, step by step.
  const SweepPair& pair = GetParam();
  const bool has_bypass = residual_connection(pair.residual_connection).has_bypass;
  const bool is_repeated = pair.architecture.starts_with("universal");
  const double tolerance = !has_bypass && is_repeated            ? 2e-2
                           : pair.residual_connection == "fixup" ? 2e-4  // no norms
                                                                 : 1e-4;
  const int count = testing::sweep_models(GetParam(), [&](const SweepModel& swept) {
    if (!swept.is_selected) return;
    SCOPED_TRACE(swept.name);
    ForwardOptions gpu_options;
    gpu_options.backend = &gpu;
    try {
      EXPECT_TRUE(testing::close(run(swept.model, swept.batch, gpu_options).logits.value(),
                                 run(swept.model, swept.batch, {}).logits.value(), tolerance));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  });
  EXPECT_GT(count, 0);
  const bool has_attention = GetParam().architecture != "recurrent" && GetParam().value != "none";
  EXPECT_EQ(gpu.dispatch_count() > 0, has_attention);
}

INSTANTIATE_TEST_SUITE_P(All, GpuModelSweep, ::testing::ValuesIn(testing::sweep_pairs()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
