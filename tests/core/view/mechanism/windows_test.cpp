// Mechanism picture of shifted windows.
#include <gtest/gtest.h>

#include <set>

#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Trace run_swin(const std::string& parameters, Index length) {
  return testing::run_model({.variant = R"({"type": "swin", )" + parameters + "}",
                             .encoding = "none",
                             .length = length,
                             .causal = false});
}

std::vector<ViewData::Matrix> numbers_of(const Trace& trace, Index token) {
  const testing::ViewInputFixture fixture(
      trace, testing::settings_with("mechanism", R"({"token": )" + std::to_string(token) + "}"));
  const AttentionTap& tap = trace.attention[0];
  return default_mechanism(tap).data({fixture.input, tap, 0});
}

// Pixels share a number of "shifted windows" if and only if the shifted layer lets them attend to
// each other, and the mask of a whole window repeats its pattern.
TEST(WindowsMechanism, ExportsThePatternOfTheShiftedLayer) {
  const Index width = 6, height = 4;
  const Trace trace = run_swin(R"("width": 6, "height": 4, "window": 2)", width * height);
  const Pattern& pattern = *trace.attention[1].result.pattern;
  for (const Index token : {0, 7, 23}) {
    const std::vector<ViewData::Matrix> numbers = numbers_of(trace, token);
    ASSERT_EQ(numbers.size(), 4u);
    const Tensor& windows = numbers[1].values;
    ASSERT_EQ(windows.shape(), (Shape{height, width}));
    for (Index i = 0; i < width * height; ++i) {
      for (Index j = 0; j < width * height; ++j) {
        EXPECT_EQ(windows[i] == windows[j], pattern.allowed(0, i, j)) << i << " " << j;
      }
    }
    const ViewData::Matrix& mask = numbers[3];
    ASSERT_EQ(mask.values.shape(), (Shape{4, 4}));
    EXPECT_NE(std::ranges::find(mask.rows, std::to_string(token)), mask.rows.end());
    for (Index a = 0; a < 4; ++a) {
      for (Index b = 0; b < 4; ++b) {
        const Index i = std::stoll(mask.rows[static_cast<std::size_t>(a)]);
        const Index j = std::stoll(mask.columns[static_cast<std::size_t>(b)]);
        EXPECT_EQ(mask.values(a, b) != 0, pattern.allowed(0, i, j)) << i << " " << j;
      }
    }
  }
}

TEST(WindowsMechanism, CyclicShiftMovesEveryPixelOnce) {
  const Trace trace = run_swin(R"("width": 4, "height": 8, "window": 4)", 32);
  const Tensor pixels = numbers_of(trace, 0)[2].values;
  EXPECT_EQ(std::set<float>(pixels.begin(), pixels.end()).size(), 32u);
  EXPECT_EQ(pixels(0, 0), 2 * 4);  // rows move by half a window; one window is as wide as the image
  EXPECT_EQ(pixels(6, 1), 1);
}

TEST(WindowsMechanism, DrawsOnlyTheWindowsOfTheMode) {
  EXPECT_EQ(
      numbers_of(run_swin(R"("width": 4, "height": 4, "window": 2, "mode": "regular")", 16), 0)
          .size(),
      1u);
  EXPECT_EQ(
      numbers_of(run_swin(R"("width": 4, "height": 4, "window": 2, "mode": "shifted")", 16), 0)
          .size(),
      3u);
  // Partial windows of a ragged image do not form a whole one.
  EXPECT_EQ(numbers_of(run_swin(R"("width": 5, "height": 4, "window": 2)", 20), 0).size(), 2u);
  EXPECT_EQ(numbers_of(run_swin(R"("width": 2, "height": 2, "window": 2)", 4), 0).size(), 1u);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
