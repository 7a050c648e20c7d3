#include "core/study/study_measure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

StudyRows measured(const char* options, const std::string& model, const std::string& text) {
  MeasureInput input;
  input.session.run.model = model;
  input.session.run.text = text;
  input.report = [](double) {};
  return measure_function(Json::parse(options), "measure")(input);
}

TEST(StudyMeasure, TilesComputeStoredAttentionInLessMemory) {
  const StudyRows tiles =
      measured(R"({"type": "tiles", "lengths": [256, 512], "heads": 2, "head_size": 8})", "", "");
  const StudyRows stored = measured(
      R"({"type": "tiles", "lengths": [256, 512], "heads": 2, "head_size": 8, "stored": true})", "",
      "");
  ASSERT_EQ(tiles.size(), 2u);
  ASSERT_EQ(stored.size(), 2u);
  for (std::size_t n = 0; n < tiles.size(); ++n) {
    EXPECT_FALSE(!(tiles[n].numbers.at("difference") <= 1e-5));
    const double length = stored[n].numbers.at("length");
    EXPECT_GE(stored[n].numbers.at("peak_bytes"), 2 * length * length * sizeof(float));
    EXPECT_LT(tiles[n].numbers.at("peak_bytes"), stored[n].numbers.at("peak_bytes") / 2);
  }
}

TEST(StudyMeasure, PositionsOfSinusoidsAreLinearInTheirVectors) {
  const StudyRows rows =
      measured(R"({"type": "positions", "count": 128})", "twin-sinusoidal", "a b c");
  ASSERT_EQ(rows.size(), 128u);
  EXPECT_NEAR(rows[0].numbers.at("similarity"), 1, 1e-6);
  EXPECT_GT(rows[1].numbers.at("similarity"), rows[16].numbers.at("similarity"));
  EXPECT_FALSE(!(rows[0].numbers.at("regression_error") <= 0.1));
  EXPECT_THROW(measured(R"({"type": "positions"})", "twin-rope", "a b c"), InputError);
}

TEST(StudyMeasure, AttentionAloneReachesOtherTokens) {
  const StudyRows rows = measured(R"({"type": "reach"})", "twin-rope", "A small boat on the lake.");
  ASSERT_GT(rows.size(), 3u);
  for (std::size_t n = 0; n + 1 < rows.size(); ++n) {
    EXPECT_GT(rows[n].numbers.at("gradient"), 0);
    EXPECT_EQ(rows[n].numbers.at("without_attention"), 0);
  }
  EXPECT_GT(rows.back().numbers.at("without_attention"), 0);
}

TEST(StudyMeasure, ReturnsLeaveOutRequestsWithoutStarts) {
  for (const StudyRow& row : measured(R"({"type": "returns"})", "paths", "")) {
    EXPECT_FALSE(!(row.numbers.at("missed") <= 0.1)) << row.numbers.at("requested_steps");
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
