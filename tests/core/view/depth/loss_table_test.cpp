// Depth view with show=losses.
#include "core/view/depth/loss_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/view/view_values.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kPositions = 6;

LogitLens lens_with_losses(const Trace& trace) {
  LogitLens lens = testing::synthetic_lens(trace);
  const Index layers = lens.guess.dim(0);
  lens.target_probability = Tensor({layers, kPositions});
  lens.later_target_probability = Tensor::full({1, kPositions}, 0.125F);
  for (Index layer = 0; layer < layers; ++layer) {
    for (Index i = 0; i < kPositions; ++i) {
      // 4 bits after layer 0, 3 after layer 1, ...
      lens.target_probability(layer, i) =
          i + 1 < kPositions ? std::exp2(static_cast<float>(layer - 4)) : NAN;
    }
  }
  return lens;
}

class LossTable : public ::testing::Test {
 protected:
  LossTable() {
    set_view_value(settings_, "depth", "show", std::string("losses"));
    settings_.id = "depth";
  }
  const Trace trace_ = testing::synthetic_trace(4, 2, kPositions);
  ViewSettings settings_;
};

TEST_F(LossTable, ShowsBitsOfLayersPositionsAndTargets) {
  testing::ViewInputFixture fixture(trace_, settings_);
  fixture.input.findings.set(Findings::lens,
                             std::make_shared<const LogitLens>(lens_with_losses(trace_)));
  fixture.input.canvas.width = 700;
  fixture.input.canvas.height = 560;
  const ViewLayout layout = view("depth").lay_out(fixture.input);
  EXPECT_EQ(testing::layout_error(layout.list), "");
  for (const char* text : {"4.00 bits after layer 0, 1.00 after the last layer", "layer 3",
                           "target +2", "4.0", "3.0", "mean of the text"}) {
    EXPECT_TRUE(testing::shows_text(layout.list, text)) << text << "\n"
                                                        << testing::all_text(layout.list);
  }
  const ViewData data = losses_data(fixture.input);
  ASSERT_EQ(data.matrices.size(), 2u);
  EXPECT_EQ(data.matrices[0].values.shape(), (Shape{kPositions, 5}));
  EXPECT_EQ(data.matrices[0].values(0, 1), 3);
  EXPECT_EQ(data.matrices[1].values(0, 0), 4);
  EXPECT_EQ(data.matrices[1].values(0, 1), 0.125F);  // layer 1 of 4: the first 1/8
  EXPECT_EQ(data.matrices[1].values(3, 1), 1);
  EXPECT_EQ(data.matrices[1].values(4, 0), 3);
}

TEST_F(LossTable, ReportsMissingLosses) {
  testing::LayoutOptions options;
  options.settings = settings_;
  const ViewLayout layout = testing::lay_out_view(trace_, "depth", options);
  EXPECT_TRUE(testing::shows_text(layout.list, "No losses"));
  const testing::ViewInputFixture fixture(trace_, settings_);
  EXPECT_THROW(losses_data(fixture.input), InputError);
  // A model without exits offers its layers and losses.
  const ViewControls controls = view_controls(settings_, &trace_);
  ASSERT_EQ(controls.parameters.size(), 1u);
  EXPECT_EQ(controls.parameters[0].key, "show");
  EXPECT_EQ(controls.parameters[0].choices.size(), 2u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
