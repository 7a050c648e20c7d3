// Compares generated attention weights with the kernels or scores that generate them.
#include <gtest/gtest.h>

#include <cmath>

#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Trace run_variant(const char* variant, bool causal = true) {
  return testing::run_model(
      {.variant = variant, .encoding = "none", .length = 12, .causal = causal});
}
std::vector<ViewData::Matrix> exported_matrices(const Trace& trace, Index head) {
  const testing::ViewInputFixture fixture(trace, {});
  const AttentionTap& tap = trace.attention[0];
  return default_mechanism(tap).data({fixture.input, tap, head});
}
bool contains_text(const Trace& trace, const std::string& part) {
  return testing::shows_text(testing::lay_out_view(trace, "mechanism").list, part);
}

// At the ends of the text, the kernel is cut and rescaled to the sum 1.
TEST(GeneratedWeightsMechanism, WeightOfKeyIsKernelAtItsDistance) {
  for (const bool causal : {true, false}) {
    const Trace trace = run_variant(R"({"type": "dynamic_convolution", "width": 4})", causal);
    for (const Index head : {0, 1}) {
      const auto numbers = exported_matrices(trace, head);
      ASSERT_EQ(numbers[0].values.shape(), (Shape{12, 4}));
      const Index first = causal ? -3 : -2;
      EXPECT_EQ(numbers[0].columns[0], causal ? "-3" : "-2");
      const Tensor weights = trace.attention[0].attention(head);
      for (Index i = 0; i < 12; ++i) {
        double sum = 0;
        for (Index c = 0; c < 4; ++c) {
          const Index key = i + first + c;
          if (key >= 0 && key < 12) sum += numbers[0].values(i, c);
        }
        for (Index c = 0; c < 4; ++c) {
          const Index key = i + first + c;
          if (key < 0 || key >= 12) continue;
          EXPECT_NEAR(weights(i, key), numbers[0].values(i, c) / sum, 1e-6) << i << " " << c;
        }
      }
    }
    EXPECT_TRUE(contains_text(trace, "depend on its own token"));
    EXPECT_TRUE(contains_text(trace, "Placed along the text"));
  }
}

TEST(GeneratedWeightsMechanism, WeightsAreSoftmaxOfNumbers) {
  for (const char* variant :
       {R"({"type": "synthesizer"})", R"({"type": "synthesizer", "mode": "random"})"}) {
    const Trace trace = run_variant(variant, false);
    const auto numbers = exported_matrices(trace, 1);
    const Tensor weights = trace.attention[0].attention(1);
    for (Index i = 0; i < 12; ++i) {
      double sum = 0;
      for (Index j = 0; j < 12; ++j) sum += std::exp(static_cast<double>(numbers[0].values(i, j)));
      for (Index j = 0; j < 12; ++j) {
        EXPECT_NEAR(weights(i, j), std::exp(static_cast<double>(numbers[0].values(i, j))) / sum,
                    1e-6);
      }
    }
  }
  EXPECT_TRUE(contains_text(run_variant(R"({"type": "synthesizer"})"), "depend on its own token"));
  EXPECT_TRUE(
      contains_text(run_variant(R"({"type": "synthesizer", "mode": "random"})"), "positions only"));
  EXPECT_TRUE(contains_text(run_variant(R"({"type": "gmlp"})"), "positions only"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
