#include "core/training/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/risk_bound.h"
#include "core/base/error.h"
#include "core/model/exits.h"
#include "tests/support/places.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace {

// A small untrained model with exits by this rule.
Checkpoint small_checkpoint(const std::string& rule) {
  ModelConfig config = testing::small_config({.layers = 3, .heads = 4, .hidden = 64});
  config.exits = Choice{rule, default_values(exit_rule(rule).parameters)};
  Checkpoint checkpoint;
  checkpoint.name = "small";
  checkpoint.model = make_model(config, 5);
  checkpoint.tokenizer = byte_tokenizer();
  return checkpoint;
}

std::string some_text(char first) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(first + (i * i + i / 3) % 23);
  return text;
}

CalibrationRequest request_of(CalibrationMethod method) {
  CalibrationRequest request;
  request.method = method;
  request.tolerance = method == CalibrationMethod::GridSearch ? 0.05 : 0.6;
  request.level = 0.2;
  request.length = 16;
  request.thresholds = CalibrationRequest::falling_thresholds(10);
  return request;
}

std::vector<Index> guesses(const Tensor& logits) {
  std::vector<Index> best;
  for (Index r = 0; r < logits.size() / logits.dim(-1); ++r) {
    const float* row = logits.data() + r * logits.dim(-1);
    best.push_back(std::max_element(row, row + logits.dim(-1)) - row);
  }
  return best;
}

// Against runs of one's own, window by window.
TEST(Calibrate, CountsWhatReallyDiffers) {
  const Checkpoint checkpoint = small_checkpoint("response");
  const std::string text = some_text('A');
  const CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  const Calibration found = calibrate(checkpoint, text, "", request, {}, {});
  const Index windows = (static_cast<Index>(text.size()) - 1) / request.length;
  ASSERT_EQ(found.windows, windows);
  ASSERT_EQ(found.points.size(), 10u);
  for (const CalibrationPoint& point : found.points) {
    double differs = 0, layers = 0, tokens = 0;
    for (Index w = 0; w < windows; ++w) {
      Batch batch;
      batch.ids = IntTensor({1, request.length});
      for (Index i = 0; i < request.length; ++i) {
        batch.ids(Index{0}, i) = text[static_cast<std::size_t>(w * request.length + i)];
      }
      ForwardOptions options;
      const auto full = guesses(run(checkpoint.model, batch, options).logits.value());
      options.exit = point.effect.threshold;
      const Output output = run(checkpoint.model, batch, options);
      const auto early = guesses(output.logits.value());
      for (std::size_t i = 0; i < full.size(); ++i) {
        differs += full[i] != early[i] ? 1 : 0;
        layers += output.exits[static_cast<Index>(i)];
        ++tokens;
      }
    }
    EXPECT_NEAR(point.effect.differs, differs / tokens, 1e-9);
    EXPECT_NEAR(point.effect.layers, layers / tokens, 1e-9);
    EXPECT_NEAR(point.p, hoeffding_bentkus(differs / tokens, windows, request.tolerance), 1e-12);
  }
}

TEST(Calibrate, AcceptsInSequenceUntilOneCannotBe) {
  const Checkpoint checkpoint = small_checkpoint("response");
  const CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  const Calibration found = calibrate(checkpoint, some_text('A'), some_text('a'), request, {}, {});
  bool accepts = true;
  std::optional<double> lowest;
  for (const CalibrationPoint& point : found.points) {
    accepts = accepts && point.p <= request.level;
    EXPECT_EQ(point.accepted, accepts);
    if (accepts) lowest = point.effect.threshold;
  }
  EXPECT_EQ(found.threshold, lowest);
  ASSERT_TRUE(found.threshold.has_value());
  ASSERT_TRUE(found.other.has_value());
  EXPECT_EQ(found.other->threshold, *found.threshold);
  EXPECT_NE(summary(found).find("On other text"), std::string::npos) << summary(found);
}

TEST(Calibrate, SearchesForTheFewestLayersWithinTheTolerance) {
  const Checkpoint checkpoint = small_checkpoint("geometric");
  EXPECT_EQ(usual_method(checkpoint.model.config), CalibrationMethod::GridSearch);
  const CalibrationRequest request = request_of(CalibrationMethod::GridSearch);
  const Calibration found = calibrate(checkpoint, some_text('A'), "", request, {}, {});
  ASSERT_TRUE(found.threshold.has_value());
  const CalibrationPoint* chosen = found.chosen();
  ASSERT_NE(chosen, nullptr);
  EXPECT_TRUE(chosen->effect.loss <= found.full_loss + request.tolerance);
  for (const CalibrationPoint& point : found.points) {
    EXPECT_TRUE(std::isnan(point.p));
    const bool within = point.effect.loss <= found.full_loss + request.tolerance;
    EXPECT_EQ(point.accepted, within);
    EXPECT_TRUE(!within || point.effect.layers >= chosen->effect.layers);
  }
}

TEST(Calibrate, SaysWhereNoThresholdWillDo) {
  CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  request.tolerance = 1e-6;
  const Calibration found =
      calibrate(small_checkpoint("response"), some_text('A'), "", request, {}, {});
  EXPECT_FALSE(found.threshold.has_value());
  EXPECT_NE(summary(found).find("too few"), std::string::npos) << summary(found);
  CalibrationRequest searching = request_of(CalibrationMethod::GridSearch);
  searching.thresholds = {0};
  searching.tolerance = 1e-9;
  const Calibration searched =
      calibrate(small_checkpoint("geometric"), some_text('A'), "", searching, {}, {});
  EXPECT_FALSE(searched.threshold.has_value()) << searched.points.front().effect.loss;
  EXPECT_NE(summary(searched).find("No threshold"), std::string::npos) << summary(searched);
}

TEST(Calibrate, RefusesWhatHasNoThreshold) {
  const CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  EXPECT_THROW(calibrate(small_checkpoint("multinomial"), some_text('A'), "", request, {}, {}),
               InputError);
  Checkpoint none = small_checkpoint("response");
  none.model.config.exits.reset();
  EXPECT_THROW(calibrate(none, some_text('A'), "", request, {}, {}), InputError);
  EXPECT_THROW(calibrate(small_checkpoint("response"), "short", "", request, {}, {}), InputError);
  for (const double wrong : {0.0, 1.0, -1.0, std::nan("")}) {
    CalibrationRequest bad = request;
    bad.tolerance = wrong;
    EXPECT_THROW(calibrate(small_checkpoint("response"), some_text('A'), "", bad, {}, {}),
                 InputError);
    bad = request;
    bad.level = wrong;
    EXPECT_THROW(calibrate(small_checkpoint("response"), some_text('A'), "", bad, {}, {}),
                 InputError);
  }
}

// Whoever stops it waits for a stretch of the text, not for all of it; in stretches it has the same
// tokens.
TEST(Calibrate, StopsWhileTheTextIsTokenised) {
  struct Counting : Tokenizer {
    std::string kind() const override { return bytes_->kind(); }
    std::int32_t vocabulary_size() const override { return bytes_->vocabulary_size(); }
    std::vector<Token> encode(std::string_view text) const override {
      ++calls;
      if (stops) stop.request();
      std::vector<Token> tokens = bytes_->encode(text);
      tokens.insert(tokens.begin(), {0, 0, 0, true});
      tokens.push_back({0, text.size(), text.size(), true});
      return tokens;
    }
    std::string bytes(std::int32_t id) const override { return bytes_->bytes(id); }
    bool is_special(std::int32_t) const override { return false; }
    void save(const std::filesystem::path&) const override {}
    mutable int calls = 0;
    bool stops = false;
    Stop stop;
    std::shared_ptr<const Tokenizer> bytes_ = byte_tokenizer();
  };
  const auto tokenizer = std::make_shared<Counting>();
  Checkpoint checkpoint = small_checkpoint("response");
  checkpoint.tokenizer = tokenizer;
  std::string text;
  while (text.size() < 400000) text += "some words of a line\n";
  CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  request.length = 100;
  request.most_windows = 1 << 20;
  const auto tokens = static_cast<Index>(text.size()) + 2;  // with one at each end
  EXPECT_EQ(count_windows(checkpoint, text, request, {}), (tokens - 1) / request.length);
  EXPECT_GT(tokenizer->calls, 3);
  tokenizer->calls = 0;
  tokenizer->stops = true;
  EXPECT_THROW(calibrate(checkpoint, text, "", request, {}, tokenizer->stop), Stopped);
  EXPECT_EQ(tokenizer->calls, 1);
}

TEST(Calibrate, SaysBeforehandWhereThereAreTooFewWindows) {
  CalibrationRequest request = request_of(CalibrationMethod::LearnThenTest);
  request.tolerance = 0.1;
  request.level = 0.05;  // 0.9^28 is above it, 0.9^29 within
  EXPECT_NE(too_few_windows(28, request), "");
  EXPECT_EQ(too_few_windows(29, request), "");
  request.method = CalibrationMethod::GridSearch;
  EXPECT_EQ(too_few_windows(2, request), "");
  EXPECT_NE(too_few_windows(1, request), "");
  const Checkpoint checkpoint = small_checkpoint("response");
  request.length = 16;
  EXPECT_EQ(count_windows(checkpoint, some_text('A'), request, {}), 399 / 16);
  EXPECT_EQ(count_windows(checkpoint, "short", request, {}), 0);
  EXPECT_EQ(count_windows(checkpoint, "", request, {}), 0);
  EXPECT_NE(calibration_refusal(small_checkpoint("multinomial").model.config), "");
  EXPECT_EQ(calibration_refusal(checkpoint.model.config), "");
}

TEST(Calibrate, WritesALineAThreshold) {
  const Calibration found = calibrate(small_checkpoint("response"), some_text('A'), "",
                                      request_of(CalibrationMethod::LearnThenTest), {}, {});
  const std::string csv = to_csv(found);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 11);
  EXPECT_TRUE(csv.starts_with("threshold,differs,p,loss,layers,accepted\n"));
}

}  // namespace
}  // namespace attnscope
