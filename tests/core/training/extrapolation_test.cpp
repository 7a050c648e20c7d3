#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/figure/text_table.h"
#include "core/text/bpe.h"
#include "core/training/extrapolation_figure.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class Extrapolation : public ::testing::Test {
 protected:
  // An untrained byte model with a context of 16 tokens.
  static std::shared_ptr<const Checkpoint> byte_model(const std::string& encoding) {
    return byte_model(testing::small_config({.context = 16, .encoding = encoding}));
  }
  static std::shared_ptr<const Checkpoint> byte_model(const ModelConfig& config) {
    auto checkpoint = std::make_shared<Checkpoint>();
    checkpoint->name = config.groups[0][0].encoding.id;
    checkpoint->model = make_model(config, 1);
    checkpoint->tokenizer = train_bpe("bytes", 256);
    return checkpoint;
  }

  const std::string text_ = "Alice was beginning to get very tired of sitting by her sister.";
};

TEST_F(Extrapolation, EqualsEvaluationsOfEachLength) {
  const std::vector models{byte_model("sinusoidal"), byte_model("alibi")};
  std::vector<double> fractions;
  const LengthCurves curves = evaluate_lengths(
      models, {text_, "a second text"}, {32, 8, 32, 16, 100}, {},
      [&](const LengthCurves&, double fraction) { fractions.push_back(fraction); });
  EXPECT_EQ(curves.lengths, (std::vector<Index>{8, 16, 32, 100}));
  EXPECT_EQ(curves.bytes, static_cast<double>(text_.size() + 13));
  EXPECT_EQ(fractions.size(), 8u);
  EXPECT_EQ(fractions.back(), 1);
  ASSERT_EQ(curves.series.size(), 2u);
  for (std::size_t model = 0; model < models.size(); ++model) {
    const LengthSeries& series = curves.series[model];
    EXPECT_EQ(series.trained_length, 16);
    ASSERT_EQ(series.points.size(), 4u);
    for (std::size_t n = 0; n < 3; ++n) {
      Evaluation expected;
      for (const std::string& text : {text_, std::string("a second text")}) {
        expected.add(evaluate_text(*models[model], text, {.length = curves.lengths[n]}));
      }
      EXPECT_EQ(series.points[n].bits_per_byte, expected.bits_per_byte()) << series.model;
      EXPECT_EQ(series.points[n].loss, expected.loss());
      EXPECT_EQ(series.points[n].missing, "");
    }
    EXPECT_TRUE(std::isnan(series.points[3].bits_per_byte));
    EXPECT_EQ(series.points[3].missing, "the text has 63 tokens");
  }
  EXPECT_EQ(curves.series[0].kind, PositionKind::Absolute);
  EXPECT_EQ(curves.series[1].kind, PositionKind::Relative);
}

TEST_F(Extrapolation, RejectsModelsWithoutWindowsOfText) {
  ModelConfig config = testing::small_config({.context = 16, .encoding = "none"});
  EXPECT_EQ(lengths_refusal(config), "");
  config.causal = false;
  EXPECT_NE(lengths_refusal(config).find("causal"), std::string::npos);
  config.causal = true;
  config.segment = 4;
  EXPECT_NE(lengths_refusal(config).find("segments"), std::string::npos);
  EXPECT_THROW(evaluate_lengths({byte_model(config)}, {text_}, {8}), InputError);
  // A table of learned positions has no row beyond its length.
  const LengthCurves curves = evaluate_lengths({byte_model("learned")}, {text_}, {8, 32});
  EXPECT_EQ(curves.series[0].points[0].missing, "");
  EXPECT_NE(curves.series[0].points[1].missing.find("at least 32 rows"), std::string::npos)
      << curves.series[0].points[1].missing;
}

LengthCurves example() {
  LengthCurves curves;
  curves.lengths = {64, 128, 256};
  curves.bytes = 12478;
  curves.series.push_back({"abs", "Sinusoidal", PositionKind::Absolute, 128, {}});
  curves.series.push_back({"rel", "ALiBi, linear bias", PositionKind::Relative, 128, {}});
  curves.series[0].points = {{64, 2.1, 3}, {128, 2, 2.9}, {256, 3.5, 5}};
  curves.series[1].points = {{64, 2.2, 3.1}, {128, 2.1, 3}, {256, NAN, NAN, "too long"}};
  return curves;
}

TEST(ExtrapolationFigure, TablesContainEveryPoint) {
  const std::string csv = to_csv(example());
  EXPECT_TRUE(
      csv.starts_with("model,position,kind,trained_length,length,bits_per_byte,loss,note\n"
                      "abs,Sinusoidal,absolute,128,64,2.100000,3.000000,\n"))
      << csv;
  EXPECT_TRUE(csv.ends_with("rel,\"ALiBi, linear bias\",relative,128,256,,,too long\n")) << csv;
  const Json json = to_json(example());
  EXPECT_EQ(json["models"][0]["points"][2]["bits_per_byte"], 3.5);
  EXPECT_EQ(json["models"][1]["points"][2]["missing"], "too long");
  EXPECT_EQ(to_table(example()),
            "  length      abs      rel   (bits per byte; *: longer than in training)\n"
            "      64  2.1000   2.2000 \n"
            "     128  2.0000   2.1000 \n"
            "     256  3.5000*       - \n");
  EXPECT_EQ(csv_field("a \"b\", c"), "\"a \"\"b\"\", c\"");
}

TEST(ExtrapolationFigure, MarksTheTrainedLengthAndNamesTheEncodings) {
  const LengthCurves curves = example();
  const DisplayList list =
      extrapolation_picture(curves, 900, 540, Theme::light(), file_text_measure());
  EXPECT_EQ(testing::layout_error(list), "");
  for (const char* text : {"abs, Sinusoidal", "rel, ALiBi", "length of training",
                           "Dashed: absolute positions.", "12,478 bytes"}) {
    EXPECT_TRUE(testing::shows_text(list, text)) << text << "\n" << testing::all_text(list);
  }
  // The dotted line is vertical, at the place of the tick "128".
  const std::vector<Text> texts = testing::texts(list);
  const auto tick = std::ranges::find(texts, "128", &Text::text);
  ASSERT_TRUE(tick != texts.end());
  const auto dots = std::ranges::count_if(list.items, [&](const Item& item) {
    const auto* line = std::get_if<Line>(&item);
    return line != nullptr && line->colour == Theme::light().faint_text &&
           std::ranges::all_of(line->points,
                               [&](Point p) { return std::abs(p.x - tick->at.x) < 0.01; });
  });
  EXPECT_GT(dots, 10);
}

TEST(ExtrapolationFigure, DrawsEqualValues) {
  LengthCurves curves = example();
  for (const double difference : {0.0, 1e-12}) {
    for (LengthSeries& series : curves.series) {
      for (LengthPoint& point : series.points) point.bits_per_byte = 2;
    }
    curves.series[0].points[0].bits_per_byte += difference;
    const DisplayList list =
        extrapolation_picture(curves, 900, 540, Theme::light(), file_text_measure());
    EXPECT_LT(list.items.size(), 10000u);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
