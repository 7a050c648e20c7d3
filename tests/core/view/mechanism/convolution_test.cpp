// Compares a bundled model whose heads shift values with an explicit convolution.
#include <gtest/gtest.h>

#include <cmath>

#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"
#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class Convolution : public ::testing::Test {
 protected:
  Convolution() {
    session_.run.model = "convolution";
    session_.run.text = "The old sailor gave the girl his lamp because she was afraid.";
    trace_ = run_.run(session_.run);
  }
  const AttentionTap& tap() const { return trace_->attention.front(); }
  Session session_;
  ExperimentRun run_{cpu_only()};
  std::shared_ptr<const Trace> trace_;
};

TEST_F(Convolution, EachHeadIsAShift) {
  const Index length = tap().queries();
  ASSERT_EQ(tap().heads.size(), 5u);
  for (Index head = 0; head < 5; ++head) {
    const Tensor weights = tap().attention(head);
    for (Index i = 0; i < length; ++i) {
      const Index source = i + head - 2;
      for (Index j = 0; j < length; ++j) {
        const bool is_inside = source >= 0 && source < length;
        const double expected =
            is_inside ? (j == source ? 1.0 : 0.0) : 1.0 / static_cast<double>(length);
        EXPECT_NEAR(weights(i, j), expected, 1e-6) << head << " " << i << " " << j;
      }
    }
  }
}

// y_i = v_{i + o} for the offset o = head - 2 of each head.
TEST_F(Convolution, OutputsAreShiftedValues) {
  const Tensor& out = tap().output();  // [h, L, d_v]
  const Tensor& values = tap().part()->v.value();
  for (Index head = 0; head < 5; ++head) {
    for (Index i = 2; i + 2 < tap().queries(); ++i) {
      for (Index c = 0; c < out.dim(2); ++c) {
        EXPECT_NEAR(out(head, i, c), values(head, i + head - 2, c), 1e-5);
      }
    }
  }
}

TEST_F(Convolution, IsDrawnAsConvolution) {
  EXPECT_EQ(default_mechanism(tap()).id, "convolution");
  testing::LayoutOptions options;
  options.settings.head = 1;
  bool is_shown = false;
  const ViewLayout layout = testing::lay_out_view(*trace_, "mechanism", options);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  for (const Text& text : testing::texts(layout.list)) {
    is_shown |= text.text.find("every token gets the token 1 before it") != std::string::npos;
  }
  EXPECT_TRUE(is_shown);
  const testing::ViewInputFixture fixture(*trace_, session_.view);
  const Tensor kernel = default_mechanism(tap()).data({fixture.input, tap(), 0}).front().values;
  ASSERT_EQ(kernel.shape(), (Shape{5, 7}));  // distances −3 to 3
  for (Index head = 0; head < 5; ++head) {
    for (Index c = 0; c < 7; ++c) EXPECT_NEAR(kernel(head, c), c == head + 1 ? 1 : 0, 1e-6);
  }
}

// Weights that depend on products of queries and keys are no convolution.
TEST_F(Convolution, RequiresWeightsByDistance) {
  EXPECT_NE(
      default_mechanism(
          testing::run_model({.encoding = R"({"type": "relative_bias", "clip": 3})"}).attention[0])
          .id,
      "convolution");
  EXPECT_NE(default_mechanism(testing::run_model({.encoding = "alibi"}).attention[0]).id,
            "convolution");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
