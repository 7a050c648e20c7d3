#include "core/training/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/risk_bound.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "core/figure/render.h"
#include "core/model/exits.h"
#include "core/training/calibration_picture.h"
#include "core/training/tally.h"
#include "tests/support/places.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// A small untrained model with the exit rule `rule`.
Checkpoint small_checkpoint(const std::string& rule) {
  ModelConfig config = testing::small_config({.layers = 3, .heads = 4, .hidden = 64});
  config.exits = Choice{rule, default_values(exit_rule(rule).parameters)};
  Checkpoint checkpoint;
  checkpoint.name = "small";
  checkpoint.model = make_model(config, 5);
  checkpoint.tokenizer = byte_tokenizer();
  return checkpoint;
}

std::string sample_text(char first) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>(first + (i * i + i / 3) % 23);
  return text;
}

CalibrationRequest make_request(CalibrationMethod method) {
  CalibrationRequest request;
  request.method = method;
  request.tolerance = method == CalibrationMethod::GridSearch ? 0.05 : 0.6;
  request.level = 0.2;
  request.length = 16;
  request.thresholds = CalibrationRequest::descending_thresholds(10);
  return request;
}

std::vector<Index> most_likely_tokens(const Tensor& logits) {
  std::vector<Index> best;
  for (Index r = 0; r < logits.size() / logits.dim(-1); ++r) {
    const float* row = logits.data() + r * logits.dim(-1);
    best.push_back(std::max_element(row, row + logits.dim(-1)) - row);
  }
  return best;
}

// Compares the counts with a separate run of each window.
TEST(Calibrate, CountsActualDifferences) {
  const Checkpoint checkpoint = small_checkpoint("response");
  const std::string text = sample_text('A');
  const CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  const Calibration result = calibrate(checkpoint, text, "", request, {});
  const Index windows = (static_cast<Index>(text.size()) - 1) / request.length;
  ASSERT_EQ(result.windows, windows);
  EXPECT_EQ(result.tokens, windows * request.length);
  EXPECT_EQ(result.layers, 3);
  EXPECT_FALSE(result.holdout.has_value());
  ASSERT_EQ(result.points.size(), 10u);
  for (const CalibrationPoint& point : result.points) {
    double changed_count = 0, layers = 0, tokens = 0, nats = 0, full_nats = 0;
    for (Index w = 0; w < windows; ++w) {
      Batch batch;
      batch.ids = IntTensor({1, request.length});
      for (Index i = 0; i < request.length; ++i) {
        batch.ids(Index{0}, i) = text[static_cast<std::size_t>(w * request.length + i)];
      }
      const auto sum_nats = [&](const Tensor& logits) {
        double sum = 0;
        for (Index i = 0; i < request.length; ++i) {
          const auto next = text[static_cast<std::size_t>(w * request.length + i + 1)];
          double total = 0;
          for (Index v = 0; v < 256; ++v) {
            total += std::exp(static_cast<double>(logits(Index{0}, i, v)));
          }
          sum += std::log(total) - static_cast<double>(logits(Index{0}, i, Index{next}));
        }
        return sum;
      };
      ForwardOptions options;
      const Tensor full_logits = run(checkpoint.model, batch, options).logits.value();
      const auto full_guesses = most_likely_tokens(full_logits);
      options.exit = point.effect.threshold;
      const Output output = run(checkpoint.model, batch, options);
      full_nats += sum_nats(full_logits);
      nats += sum_nats(output.logits.value());
      const auto early_guesses = most_likely_tokens(output.logits.value());
      for (std::size_t i = 0; i < full_guesses.size(); ++i) {
        changed_count += full_guesses[i] != early_guesses[i] ? 1 : 0;
        layers += output.exits[static_cast<Index>(i)];
        ++tokens;
      }
    }
    EXPECT_NEAR(point.effect.changed_fraction, changed_count / tokens, 1e-9);
    EXPECT_NEAR(point.effect.layers, layers / tokens, 1e-9);
    EXPECT_NEAR(point.effect.loss, nats / tokens, 1e-4);
    EXPECT_NEAR(result.full_loss, full_nats / tokens, 1e-4);
    EXPECT_NEAR(point.p, hoeffding_bentkus(changed_count / tokens, windows, request.tolerance),
                1e-12);
  }
}

TEST(Calibrate, AcceptsThresholdsUntilFirstRejection) {
  const Checkpoint checkpoint = small_checkpoint("response");
  const CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  const Calibration result = calibrate(checkpoint, sample_text('A'), sample_text('a'), request, {});
  bool all_accepted = true;
  std::optional<double> lowest;
  for (const CalibrationPoint& point : result.points) {
    all_accepted = all_accepted && point.p <= request.level;
    EXPECT_EQ(point.accepted, all_accepted);
    if (all_accepted) lowest = point.effect.threshold;
  }
  EXPECT_EQ(result.threshold, lowest);
  ASSERT_TRUE(result.threshold.has_value());
  ASSERT_TRUE(result.holdout.has_value());
  EXPECT_EQ(result.holdout->threshold, *result.threshold);
  EXPECT_NE(summary(result).find("On other text"), std::string::npos) << summary(result);
}

TEST(Calibrate, FindsFewestLayersWithinTolerance) {
  const Checkpoint checkpoint = small_checkpoint("geometric");
  EXPECT_EQ(default_method(checkpoint.model.config), CalibrationMethod::GridSearch);
  const CalibrationRequest request = make_request(CalibrationMethod::GridSearch);
  const Calibration result = calibrate(checkpoint, sample_text('A'), "", request, {});
  ASSERT_TRUE(result.threshold.has_value());
  const CalibrationPoint* selected = result.selected_point();
  ASSERT_NE(selected, nullptr);
  EXPECT_TRUE(selected->effect.loss <= result.full_loss + request.tolerance);
  for (const CalibrationPoint& point : result.points) {
    EXPECT_TRUE(std::isnan(point.p));
    const bool is_within = point.effect.loss <= result.full_loss + request.tolerance;
    EXPECT_EQ(point.accepted, is_within);
    EXPECT_TRUE(!is_within || point.effect.layers >= selected->effect.layers);
  }
}

TEST(Calibrate, ReportsThatNoThresholdIsAcceptable) {
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  request.tolerance = 1e-6;
  const Calibration result =
      calibrate(small_checkpoint("response"), sample_text('A'), "", request, {});
  EXPECT_FALSE(result.threshold.has_value());
  EXPECT_NE(summary(result).find("too few"), std::string::npos) << summary(result);
  CalibrationRequest grid_request = make_request(CalibrationMethod::GridSearch);
  grid_request.thresholds = {0};
  grid_request.tolerance = 1e-9;
  const Calibration grid_result =
      calibrate(small_checkpoint("geometric"), sample_text('A'), "", grid_request, {});
  EXPECT_FALSE(grid_result.threshold.has_value()) << grid_result.points.front().effect.loss;
  EXPECT_NE(summary(grid_result).find("No threshold"), std::string::npos) << summary(grid_result);
}

TEST(Calibrate, RejectsModelsWithoutThresholdAndInvalidRequests) {
  const CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  EXPECT_THROW(calibrate(small_checkpoint("multinomial"), sample_text('A'), "", request, {}),
               InputError);
  Checkpoint checkpoint = small_checkpoint("response");
  checkpoint.model.config.exits.reset();
  EXPECT_THROW(calibrate(checkpoint, sample_text('A'), "", request, {}), InputError);
  EXPECT_THROW(calibrate(small_checkpoint("response"), "short", "", request, {}), InputError);
  for (const double invalid_value : {0.0, 1.0, -1.0, std::nan("")}) {
    CalibrationRequest invalid_request = request;
    invalid_request.tolerance = invalid_value;
    EXPECT_THROW(calibrate(small_checkpoint("response"), sample_text('A'), "", invalid_request, {}),
                 InputError);
    invalid_request = request;
    invalid_request.level = invalid_value;
    EXPECT_THROW(calibrate(small_checkpoint("response"), sample_text('A'), "", invalid_request, {}),
                 InputError);
  }
}

// Cancellation takes effect after one chunk of text. Chunks yield the same tokens as the whole
// text.
TEST(Calibrate, StopsWhileTheTextIsTokenised) {
  struct CountingTokenizer : Tokenizer {
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
  const auto tokenizer = std::make_shared<CountingTokenizer>();
  Checkpoint checkpoint = small_checkpoint("response");
  checkpoint.tokenizer = tokenizer;
  std::string text;
  while (text.size() < 400000) text += "some words of a line\n";
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  request.length = 100;
  request.max_windows = 1 << 20;
  const auto tokens = static_cast<Index>(text.size()) + 2;  // with a special token at each end
  EXPECT_EQ(count_windows(checkpoint, text, request), (tokens - 1) / request.length);
  request.length = 1;  // a window at every token except the last
  EXPECT_EQ(count_windows(checkpoint, text, request), tokens - 1);
  EXPECT_GT(tokenizer->calls, 3);
  tokenizer->calls = 0;
  tokenizer->stops = true;
  const StopScope scope(tokenizer->stop);
  EXPECT_THROW(calibrate(checkpoint, text, "", request, {}), Stopped);
  EXPECT_EQ(tokenizer->calls, 1);
}

// Text is split before a single space or line end between words, but not at longer white space.
TEST(Calibrate, SplitsTextBeforeAWord) {
  struct RecordingTokenizer : Tokenizer {
    std::string kind() const override { return "watching"; }
    std::int32_t vocabulary_size() const override { return 256; }
    std::vector<Token> encode(std::string_view text) const override {
      pieces.emplace_back(text);
      return byte_tokenizer()->encode(text);
    }
    std::string bytes(std::int32_t id) const override { return byte_tokenizer()->bytes(id); }
    bool is_special(std::int32_t) const override { return false; }
    void save(const std::filesystem::path&) const override {}
    mutable std::vector<std::string> pieces;
  };
  const auto tokenizer = std::make_shared<RecordingTokenizer>();
  Checkpoint checkpoint = small_checkpoint("response");
  checkpoint.tokenizer = tokenizer;
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  const std::size_t chunk_size = 1 << 16;
  for (const char* gap : {"  ", " \n ", "\n\n"}) {
    const std::string first(chunk_size - 1, 'a'), word(40, 'b');
    const std::string text = first + gap + word + " " + word + gap + word;
    tokenizer->pieces.clear();
    count_windows(checkpoint, text, request);
    ASSERT_EQ(tokenizer->pieces.size(), 2u);
    EXPECT_EQ(tokenizer->pieces[0], first + gap + word);
    EXPECT_EQ(tokenizer->pieces[1], " " + word + gap + word);
    // The second chunk ends before the next single line end.
    tokenizer->pieces.clear();
    count_windows(checkpoint, text + std::string(chunk_size, 'c') + "\nend", request);
    ASSERT_EQ(tokenizer->pieces.size(), 3u);
    EXPECT_EQ(tokenizer->pieces[2], "\nend");
  }
}

// A text with more windows than requested is sampled evenly.
TEST(Calibrate, SpreadsWindowsOverTheText) {
  const Checkpoint checkpoint = small_checkpoint("response");
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  const std::string text = sample_text('A');  // 24 windows
  request.max_windows = 5;
  EXPECT_EQ(count_windows(checkpoint, text, request), 5);
  const Calibration result = calibrate(checkpoint, text, "", request, {});
  EXPECT_EQ(result.windows, 5);
  double nats = 0;
  for (const std::size_t window : {0, 4, 9, 14, 19}) {
    Batch batch;
    batch.ids = IntTensor({1, 16});
    batch.targets = IntTensor({1, 16});
    const std::size_t start = 16 * window;
    for (std::size_t i = 0; i < 16; ++i) {
      batch.ids[static_cast<Index>(i)] = text[start + i];
      batch.targets[static_cast<Index>(i)] = text[start + i + 1];
    }
    const Tensor logits = run(checkpoint.model, batch, {}).logits.value();
    Tally tally;
    tally.add(logits, batch.targets);
    nats += tally.nats();
  }
  EXPECT_NEAR(result.full_loss, nats / 80, 1e-5);
}

TEST(Calibrate, ReportsProgress) {
  const Checkpoint checkpoint = small_checkpoint("response");
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  request.thresholds = {1, 0.5};
  const auto reported_fractions = [&](std::string_view holdout) {
    std::vector<double> fractions;
    calibrate(checkpoint, sample_text('A'), holdout, request,
              [&](const Calibration&, double fraction) { fractions.push_back(fraction); });
    return fractions;
  };
  // Progress counts one step for the full model and one for each threshold. A holdout text adds two
  // steps: the full model and the selected threshold.
  EXPECT_EQ(reported_fractions(""), (std::vector<double>{1 / 3.0, 2 / 3.0, 1, 1}));
  EXPECT_EQ(reported_fractions(sample_text('a')),
            (std::vector<double>{1 / 5.0, 2 / 5.0, 3 / 5.0, 1}));
}

// Among thresholds with the same number of layers, the highest is selected.
TEST(Calibrate, SelectsHighestOfEqualThresholds) {
  CalibrationRequest request = make_request(CalibrationMethod::GridSearch);
  request.tolerance = 5;  // tolerance in nats; may exceed 1
  request.thresholds = {1, 0.99999, 0.99998};
  const Checkpoint checkpoint = small_checkpoint("geometric");
  const Calibration result = calibrate(checkpoint, sample_text('A'), sample_text('a'), request, {});
  ASSERT_EQ(result.points.size(), 3u);
  ASSERT_EQ(result.points[0].effect.layers, result.points[2].effect.layers);
  EXPECT_EQ(result.threshold, 1);
  EXPECT_EQ(result.selected_point(), &result.points[0]);
  ASSERT_TRUE(result.holdout.has_value());
  // Without an acceptable threshold, the holdout text is not evaluated.
  request.tolerance = 1e-9;
  request.thresholds = {0};
  const Calibration unaccepted =
      calibrate(checkpoint, sample_text('A'), sample_text('a'), request, {});
  EXPECT_FALSE(unaccepted.threshold.has_value());
  EXPECT_EQ(unaccepted.selected_point(), nullptr);
  EXPECT_FALSE(unaccepted.holdout.has_value());
}

TEST(Calibrate, RequiresTwoWindows) {
  const Checkpoint checkpoint = small_checkpoint("response");
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  request.thresholds = {1};
  const std::string text = sample_text('A');
  const auto calibration_error = [&](const CalibrationRequest& changed_request,
                                     std::string_view text_part) {
    try {
      calibrate(checkpoint, text_part, "", changed_request, {});
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(calibration_error(request, text.substr(0, 33)),
            "");  // two windows of 16 tokens, and one more token to predict
  EXPECT_EQ(calibration_error(request, text.substr(0, 32)),
            "text: expected at least 33 tokens (two windows), found 32");
  request.length = 0;  // selects the context, 32 tokens
  EXPECT_EQ(count_windows(checkpoint, text, request), 399 / 32);
  EXPECT_EQ(calibration_error(request, text.substr(0, 65)), "");
  EXPECT_NE(calibration_error(request, text.substr(0, 64)), "");
  request.length = 1;
  EXPECT_EQ(count_windows(checkpoint, "", request), 0);
  EXPECT_EQ(count_windows(checkpoint, "a", request), 0);
  EXPECT_EQ(count_windows(checkpoint, "ab", request), 1);
  // Invalid requests.
  request.length = 16;
  request.max_windows = 2;
  EXPECT_EQ(calibration_error(request, text), "");
  request.max_windows = 1;
  EXPECT_EQ(calibration_error(request, text), "windows: expected at least 2");
  request.max_windows = 5;
  request.length = -1;
  EXPECT_NE(calibration_error(request, text).find("length: "), std::string::npos);
  request.length = 16;
  for (const auto& thresholds : {std::vector<double>{}, {0.5, 0.6}, {0.9, 0.5, 0.7}}) {
    request.thresholds = thresholds;
    EXPECT_EQ(calibration_error(request, text), "thresholds: expected descending numbers");
  }
  request.thresholds = {0.5, 0.5};
  EXPECT_EQ(calibration_error(request, text), "");
}

TEST(Calibrate, DefaultsToThePublishedMethodOfEachRule) {
  const auto method = [](const char* rule) {
    return default_method(small_checkpoint(rule).model.config);
  };
  EXPECT_EQ(method("geometric"), CalibrationMethod::GridSearch);
  EXPECT_EQ(method("response"), CalibrationMethod::LearnThenTest);
  EXPECT_EQ(method("saturation"), CalibrationMethod::LearnThenTest);
  EXPECT_EQ(default_method(ModelConfig{}), CalibrationMethod::LearnThenTest);
  EXPECT_EQ(CalibrationRequest::descending_thresholds(4),
            (std::vector<double>{1, 0.75, 0.5, 0.25}));
}

// Costs and savings share a scale from 0 to 1, which is inferred from the known savings.
TEST(CalibrationPicture, ShowsCostAndSavings) {
  for (const CalibrationMethod method :
       {CalibrationMethod::LearnThenTest, CalibrationMethod::GridSearch}) {
    Calibration calibration;
    calibration.request.method = method;
    calibration.request.tolerance = 0.3;
    calibration.layers = 4;
    calibration.full_loss = 2;
    calibration.windows = 100;
    const double layers[] = {4, 3, 1}, changed_fractions[] = {0, 0.1, 0.6},
                 losses[] = {2, 2.25, 2.5};
    for (std::size_t n = 0; n < 3; ++n) {
      const ExitEffect effect{1 - 0.25 * static_cast<double>(n), changed_fractions[n], losses[n],
                              layers[n]};
      calibration.points.push_back({effect});
    }
    calibration.threshold = 0.75;
    const DisplayList list =
        calibration_picture(calibration, 600, 400, Theme::light(), file_text_measure());
    std::vector<std::vector<Point>> curves;  // curves with three points
    for (const Item& item : list.items) {
      const auto* line = std::get_if<Line>(&item);
      if (line != nullptr && line->points.size() == 3) curves.push_back(line->points);
    }
    ASSERT_EQ(curves.size(), 2u);
    const std::vector<Point>&cost = curves[0], &savings = curves[1];
    const double zero = savings[2].y;                        // no layer is skipped
    const double one = zero + (savings[0].y - zero) / 0.75;  // three of four layers are skipped
    const auto height = [&](double y) { return (y - zero) / (one - zero); };
    EXPECT_LT(one, zero);
    EXPECT_NEAR(height(savings[1].y), 0.25, 1e-6);
    const bool is_test = method == CalibrationMethod::LearnThenTest;
    for (std::size_t n = 0; n < 3; ++n) {  // thresholds rise along x
      EXPECT_NEAR(height(cost[2 - n].y), is_test ? changed_fractions[n] : losses[n] - 2, 1e-6);
      EXPECT_EQ(cost[n].x, savings[n].x);
    }
    EXPECT_LT(cost[0].x, cost[1].x);
    EXPECT_NEAR(cost[2].x - cost[1].x, cost[1].x - cost[0].x, 1e-6);
  }
}

TEST(Calibrate, WarnsOfTooFewWindows) {
  CalibrationRequest request = make_request(CalibrationMethod::LearnThenTest);
  request.tolerance = 0.1;
  request.level = 0.05;  // 0.9^28 exceeds the level, 0.9^29 does not
  EXPECT_NE(too_few_windows(28, request), "");
  EXPECT_EQ(too_few_windows(29, request), "");
  request.method = CalibrationMethod::GridSearch;
  EXPECT_EQ(too_few_windows(2, request), "");
  EXPECT_NE(too_few_windows(1, request), "");
  const Checkpoint checkpoint = small_checkpoint("response");
  request.length = 16;
  EXPECT_EQ(count_windows(checkpoint, sample_text('A'), request), 399 / 16);
  EXPECT_EQ(count_windows(checkpoint, "short", request), 0);
  EXPECT_EQ(count_windows(checkpoint, "", request), 0);
  EXPECT_NE(calibration_refusal(small_checkpoint("multinomial").model.config), "");
  EXPECT_EQ(calibration_refusal(checkpoint.model.config), "");
}

// The sample has enough windows for a guarantee with the default tolerance and risk.
TEST(Calibrate, SampleTextSufficesForGuarantee) {
  const std::string text = read_file(sample_calibration_text(), 1 << 20);
  const Checkpoint checkpoint = load_checkpoint("exits-calm");
  CalibrationRequest request;
  request.method = CalibrationMethod::LearnThenTest;
  EXPECT_EQ(too_few_windows(count_windows(checkpoint, text, request), request), "");
}

TEST(Calibrate, WritesOneLinePerThreshold) {
  const Calibration result = calibrate(small_checkpoint("response"), sample_text('A'), "",
                                       make_request(CalibrationMethod::LearnThenTest), {});
  const std::string csv = to_csv(result);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 11);
  EXPECT_TRUE(csv.starts_with("threshold,differs,p,loss,layers,accepted\n"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
