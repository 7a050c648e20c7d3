#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/flash_attention.h"
#include "core/view/mechanism/mechanism.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ViewSettings tiles_settings(const std::string& options) {
  return testing::settings_with("mechanism", R"({"picture": "tiles")" + options + "}");
}

Tensor numbers_named(const Trace& trace, const ViewSettings& settings, const std::string& name) {
  const testing::ViewInputFixture fixture(trace, settings);
  for (const ViewData::Matrix& m : view("mechanism").data(fixture.input).matrices) {
    if (m.name == name) return m.values;
  }
  return {};
}

TEST(Tiles, LastTileShowsTheMap) {
  const Trace trace = testing::run_model({});
  const ViewSettings settings = tiles_settings(R"(, "tile": 1000, "tile_rows": 5)");
  const Tensor weights = numbers_named(trace, settings, "weight so far");
  const Tensor map = trace.attention[0].attention(0);
  ASSERT_EQ(weights.shape(), map.shape());
  for (Index i = 0; i < map.dim(0); ++i) {
    for (Index j = 0; j <= i; ++j) {
      EXPECT_TRUE(std::abs(weights(i, j) - map(i, j)) <= 1e-5F) << i << " " << j;
    }
  }
  EXPECT_TRUE(numbers_named(trace, settings, "final error")[0] <= 1e-5F);
}

// Before the last tile, weights are those of the keys seen: rows sum to 1, later tiles are empty.
TEST(Tiles, WeightsCoverTheTilesSoFar) {
  const Trace trace = testing::run_model({});
  const Tensor weights = numbers_named(
      trace, tiles_settings(R"(, "tile": 4, "tile_rows": 4, "tile_columns": 4)"), "weight so far");
  for (Index i = 0; i < weights.dim(0); ++i) {
    double sum = 0;
    for (Index j = 0; j < weights.dim(1); ++j) {
      const bool is_done = j <= i && (j < 4 || (j < 8 && i < 8));
      EXPECT_EQ(!std::isnan(weights(i, j)), is_done) << i << " " << j;
      if (is_done) sum += static_cast<double>(weights(i, j));
    }
    EXPECT_TRUE(std::abs(sum - 1) <= 1e-5) << i;
  }
}

TEST(Tiles, PlayStepsThroughTiles) {
  const Trace trace = testing::run_model({});
  const ViewSettings settings = tiles_settings(R"(, "tile_rows": 4, "tile_columns": 4)");
  const std::optional<Animation> animation = view_controls(settings, &trace).animation;
  ASSERT_TRUE(animation);
  EXPECT_EQ(animation->key, "tile");
  EXPECT_EQ(animation->to, 6);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
