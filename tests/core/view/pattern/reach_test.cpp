#include "core/view/pattern/reach.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Trace window_trace(Index layers, Index length, Index window) {
  Trace trace = testing::synthetic_trace(0, 0, length);
  for (Index layer = 0; layer < layers; ++layer) {
    trace.attention.push_back(
        testing::synthetic_tap(layer, 1, testing::window_and_global(length, window, 0)));
  }
  return trace;
}

TEST(ReceptiveField, WindowsAddUpLayerByLayer) {
  const Tensor reach = reach_matrix(window_trace(3, 20, 2), {}, 3);
  for (Index i = 0; i < 20; ++i) {
    for (Index j = 0; j < 20; ++j) {
      const Index needed = (std::abs(i - j) + 1) / 2;  // windows of two per side
      if (needed <= 3) {
        EXPECT_EQ(reach(i, j), static_cast<float>(needed)) << i << ", " << j;
      } else {
        EXPECT_TRUE(std::isnan(reach(i, j))) << i << ", " << j;
      }
    }
  }
}

TEST(ReceptiveField, LayersRepeat) {
  const Tensor repeated = reach_matrix(window_trace(2, 20, 2), {}, 6),
               explicit_layers = reach_matrix(window_trace(6, 20, 2), {}, 6);
  for (Index i = 0; i < repeated.size(); ++i) {
    EXPECT_TRUE(repeated[i] == explicit_layers[i] ||
                (std::isnan(repeated[i]) && std::isnan(explicit_layers[i])));
  }
}

TEST(ReceptiveField, MaskLimitsReceptiveField) {
  Trace trace = testing::synthetic_trace(1, 1, 3);
  trace.attention[0].result.mask = ByteTensor::zeros({1, 3, 3});
  trace.attention[0].result.mask(Index{0}, Index{2}, Index{0}) = 1;
  const Tensor reach = reach_matrix(trace, {}, 1);
  EXPECT_EQ(reach(2, 0), 1);
  EXPECT_TRUE(std::isnan(reach(2, 1)));
  EXPECT_EQ(reach(1, 1), 0);
}

TEST(ReceptiveField, RequiresSquareLayers) {
  EXPECT_THROW(reach_matrix(testing::synthetic_trace(Pattern::causal(4, 8, 4)), {}, 1), InputError);
  testing::LayoutOptions options;
  Values parameters = default_values(view("pattern").options.parameters);
  parameters.set("show", std::string("reach"));
  set_view_values(options.settings, "pattern", parameters);
  const ViewLayout layout =
      testing::lay_out_view(testing::synthetic_trace(Pattern::causal(4, 8, 4)), "pattern", options);
  EXPECT_NE(layout.refusal.find("as many keys as queries"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
