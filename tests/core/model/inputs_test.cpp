// Tests inputs other than text, up to their size limits.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/exit_oracle.h"
#include "core/model/id_label.h"
#include "core/model/input_kind.h"
#include "core/model/model.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// Small configuration in which `members` replace the defaults.
ModelConfig config_of(const std::string& members) {
  Json config = parse_json(R"({"vocabulary": 5, "context": 12, "width": 8, "layers": 1, "heads": 2,
      "hidden": 6})",
                           "sizes");
  const Json changes = parse_json("{" + members + "}", "members");
  for (const auto& [key, value] : changes.items()) config[key] = value;
  return model_config_from_json(config, "config");
}

TEST(ImageInput, AcceptsPixelsUpToItsSizeAndLevels) {
  const ModelConfig config =
      config_of(R"("input": {"type": "image", "width": 4, "height": 3, "levels": 4})");
  const InputKind& kind = input_kind("image");
  const std::vector<std::int32_t> whole{0, 1, 2, 3, 3, 2, 1, 0, 0, 1, 2, 3};
  const Batch batch = kind.batch(whole, config);
  ASSERT_EQ(batch.ids.shape(), (Shape{1, 12}));
  EXPECT_EQ(batch.ids[0], 4);  // the start id
  for (Index n = 0; n < 12; ++n) {
    EXPECT_EQ(batch.targets[n], whole[static_cast<std::size_t>(n)]);
    if (n > 0) {
      EXPECT_EQ(batch.ids[n], whole[static_cast<std::size_t>(n) - 1]);
    }
  }
  std::vector<std::int32_t> ids = whole;
  ids.push_back(0);
  EXPECT_EQ(refusal_of([&] { kind.batch(ids, config); }),
            "ids: expected at most the 12 pixels of the image, found 13");
  for (const std::int32_t wrong : {-1, 4}) {
    EXPECT_EQ(refusal_of([&] {
                kind.batch({0, wrong}, config);
              }),
              "pixels: expected levels from 0 to 3, found " + std::to_string(wrong));
  }
  const Values& image = config.input.values;
  EXPECT_EQ(kind.max_ids(image), 12);
  EXPECT_EQ(kind.levels(image), 4);
  EXPECT_EQ(kind.columns(image), 4);
  EXPECT_EQ(kind.pattern_size(image, "height"), 3);
  for (const char* key : {"width", "stride", "block"}) EXPECT_EQ(kind.pattern_size(image, key), 4);
  EXPECT_EQ(kind.pattern_size(image, "window"), -1);
  EXPECT_EQ(kind.generation_prefix({1, 2}, config), (std::vector<std::int32_t>{4, 1, 2}));
}

// The vectors of the next pixel's row and column are added to the vector of the preceding pixel or
// start token.
TEST(ImageInput, AddsPositionOfTheNextPixel) {
  const ModelConfig config =
      config_of(R"("input": {"type": "image", "width": 4, "height": 3, "levels": 4})");
  const Model model = make_model(config, 3);
  const Tensor& tokens = model.weights.at("embed.weight").value();
  const Tensor& rows = model.weights.at("embed.row").value();
  const Tensor& columns = model.weights.at("embed.column").value();
  Batch batch = input_kind("image").batch({0, 1, 2, 3, 3, 2, 1, 0, 0}, config);
  batch.targets = {};
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, batch, options);
  for (Index n = 0; n < 9; ++n) {
    for (Index i = 0; i < 8; ++i) {
      EXPECT_NEAR(trace.taps.at("embed").value()(n, i),
                  tokens(batch.ids[n], i) + rows(n / 4, i) + columns(n % 4, i), 1e-6);
    }
  }
}

TEST(PatchesInput, CutsPatchesOfEveryBatchItem) {
  const ModelConfig config = config_of(
      R"("input": {"type": "patches", "width": 6, "height": 4, "patch": 2, "extra": 2,
          "mean": [0.5, 0, 1], "deviation": [2, 1, 0.5]}, "vocabulary": 3, "context": 8,
          "causal": false, "output_head": false)");
  const InputKind& kind = input_kind("patches");
  const Values& image = config.input.values;
  EXPECT_EQ(kind.max_ids(image), 6);
  EXPECT_EQ(kind.columns(image), 3);
  EXPECT_EQ(kind.levels(image), 0);
  EXPECT_EQ(kind.patch_ids(image), (std::vector<std::int32_t>{0, 1, 2, 2, 2, 2, 2, 2}));
  const Tensor colours = testing::random_tensor({4, 6, 3}, 1);
  const Tensor pixels = kind.patch_pixels(colours, image);
  ASSERT_EQ(pixels.shape(), (Shape{1, 6, 12}));
  const double mean[] = {0.5, 0, 1}, deviation[] = {2, 1, 0.5};
  for (Index patch_index = 0; patch_index < 6; ++patch_index) {
    for (Index c = 0; c < 3; ++c) {
      for (Index pixel = 0; pixel < 4; ++pixel) {
        const Index row = patch_index / 3 * 2 + pixel / 2, column = patch_index % 3 * 2 + pixel % 2;
        const double level = static_cast<double>(colours(row, column, c));
        EXPECT_NEAR(pixels(Index{0}, patch_index, c * 4 + pixel), (level - mean[c]) / deviation[c],
                    1e-5);
      }
    }
  }
  // Token vectors are the table rows plus the projected pixels.
  const Model model = make_model(config, 3);
  const Tensor other = kind.patch_pixels(testing::random_tensor({4, 6, 3}, 2), image);
  const auto embed = [&](const Tensor& patches) {
    Batch batch;
    batch.ids = IntTensor::from({1, 8}, kind.patch_ids(image));
    batch.patches = patches;
    Trace trace;
    ForwardOptions options;
    options.trace = &trace;
    run(model, batch, options);
    return trace.taps.at("embed").value().copy();
  };
  const Tensor& table = model.weights.at("embed.weight").value();
  const Tensor& patch = model.weights.at("embed.patch").value();
  const Tensor found = embed(other);
  for (Index n = 0; n < 8; ++n) {
    for (Index i = 0; i < 8; ++i) {
      double sum = static_cast<double>(table(std::min<Index>(n, 2), i));
      for (Index p = 0; n >= 2 && p < 12; ++p) {
        sum += static_cast<double>(other(Index{0}, n - 2, p)) * static_cast<double>(patch(p, i));
      }
      EXPECT_NEAR(found(n, i), sum, 1e-5) << n;
    }
  }
}

TEST(PatchesInput, RejectsInvalidSettings) {
  const std::string input_members =
      R"("input": {"type": "patches", "width": 6, "height": 4, "patch": 2,
      "extra": 2)";
  const std::string sizes =
      R"("vocabulary": 3, "context": 8, "causal": false, "output_head": false)";
  const auto error_for = [&](const std::string& input, const std::string& others) {
    return refusal_of([&] { config_of(input + ", " + others); });
  };
  EXPECT_EQ(error_for(input_members + "}", sizes), "");
  const auto expect_error = [&](const std::string& found, const char* expected) {
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  expect_error(error_for(input_members + R"(, "deviation": [1, 0, 1]})", sizes),
               "input.deviation: expected a number above 0");
  expect_error(error_for(input_members + R"(, "deviation": [1, 1]})", sizes), "input.deviation");
  expect_error(error_for(input_members + R"(, "mean": [1, 1, 1, 1]})", sizes), "input.mean");
  EXPECT_EQ(error_for(input_members + R"(, "mean": [0, 0, 0]})", sizes), "");
  expect_error(
      error_for(R"("input": {"type": "patches", "width": 7, "height": 4, "patch": 2, "extra": 2})",
                sizes),
      "input.patch");
  expect_error(
      error_for(R"("input": {"type": "patches", "width": 6, "height": 5, "patch": 2, "extra": 2})",
                sizes),
      "input.patch");
  expect_error(error_for(input_members + "}",
                         R"("vocabulary": 4, "context": 8, "causal": false, "output_head": false)"),
               "vocabulary: expected 3");
  expect_error(error_for(input_members + "}",
                         R"("vocabulary": 3, "context": 9, "causal": false, "output_head": false)"),
               "context: expected 8");
  expect_error(
      error_for(input_members + "}", R"("vocabulary": 3, "context": 8, "output_head": false)"),
      "processed all at once");
  expect_error(error_for(input_members + "}", R"("vocabulary": 3, "context": 8, "causal": false)"),
               "not predicted");
}

TEST(IdLabel, NamesModelSpecificIds) {
  EXPECT_EQ(id_label(nullptr, 3), "#3");
  ModelConfig config = testing::small_config({});
  EXPECT_EQ(id_label(&config, 3), "#3");
  EXPECT_EQ(id_label(&config, -1), "#-1");
  config.architecture = {"decoder", {}};
  config.architecture.values.set("masked", 0.2);
  config.architecture.values.set("mask", Index{0});
  EXPECT_EQ(id_label(&config, 0), kMask);
  EXPECT_EQ(id_label(&config, 1), "#1");
  config.architecture = {"encoder_decoder", {}};
  config.architecture.values.set("start", Index{7});
  EXPECT_EQ(id_label(&config, 7), kBoundary);
  EXPECT_EQ(id_label(&config, 6), "#6");
  const ModelConfig image =
      config_of(R"("input": {"type": "image", "width": 4, "height": 3, "levels": 4})");
  EXPECT_EQ(id_label(&image, 0), "0");
  EXPECT_EQ(id_label(&image, 3), "3");
  EXPECT_EQ(id_label(&image, 4), kBoundary);
  EXPECT_EQ(id_label(&image, -1), "#-1");
  const ModelConfig patches = config_of(
      R"("input": {"type": "patches", "width": 6, "height": 4, "patch": 2, "extra": 3},
          "vocabulary": 4, "context": 9, "causal": false, "output_head": false)");
  EXPECT_EQ(id_label(&patches, 0), "[class]");
  EXPECT_EQ(id_label(&patches, 1), "[teacher]");
  EXPECT_EQ(id_label(&patches, 2), "[2]");
  EXPECT_EQ(id_label(&patches, 3), "patch");
  EXPECT_EQ(id_label(&patches, -1), "patch");
}

TEST(GlobalText, RejectsUnsuitableModels) {
  const auto error_for = [](const std::string& others) {
    return refusal_of(
        [&] { config_of(R"("input": {"type": "global_text", "global": 2})" + others); });
  };
  const auto expect_error = [&](const std::string& others, const char* expected) {
    const std::string found = error_for(others);
    EXPECT_NE(found.find(expected), std::string::npos) << found;
  };
  EXPECT_EQ(error_for(R"(, "causal": false)"), "");
  expect_error(R"(, "causal": true)", "summarise a whole text");
  expect_error(R"(, "causal": false, "context": 2)",
               "input.global: expected less than the context");
  expect_error(R"(, "causal": false, "vocabulary": 2)",
               "input.global: expected less than the vocabulary");
}

Batch trajectory_batch(Index items, Index steps) {
  Batch batch;
  batch.returns = testing::random_tensor({items, steps}, 1);
  batch.states = testing::random_tensor({items, steps, 2}, 2);
  batch.actions = IntTensor({items, steps});
  for (Index n = 0; n < items * steps; ++n) batch.actions[n] = static_cast<std::int32_t>(n % 4);
  return batch;
}

TEST(Trajectory, AcceptsStepsUpToTheMaximum) {
  const ModelConfig config = config_of(
      R"("architecture": {"type": "trajectory", "state_size": 2, "actions": 4, "most_steps": 4},
          "vocabulary": 4, "tied_output": false)");
  const Model model = make_model(config, 3);
  const auto error_for = [&](const Batch& batch) {
    return refusal_of([&] { run(model, batch, {}); });
  };
  EXPECT_EQ(error_for(trajectory_batch(2, 1)), "");
  EXPECT_EQ(error_for(trajectory_batch(2, 4)), "");
  EXPECT_NE(error_for(trajectory_batch(2, 5)).find("expected 1 to 4 steps"), std::string::npos);
  EXPECT_NE(error_for(trajectory_batch(2, 0)), "");
  Batch batch = trajectory_batch(2, 3);
  batch.states = Tensor::zeros({2, 3, 3});
  EXPECT_NE(error_for(batch).find("states: expected [2, 3, 2]"), std::string::npos);
  batch = trajectory_batch(2, 3);
  batch.actions = IntTensor({2, 2});
  EXPECT_NE(error_for(batch).find("actions: expected [2, 3]"), std::string::npos);
  for (const std::int32_t wrong : {-2, 4}) {
    batch = trajectory_batch(2, 3);
    batch.actions[1] = wrong;
    EXPECT_NE(error_for(batch).find("actions: expected -1 to 3"), std::string::npos) << wrong;
  }
  batch = trajectory_batch(2, 3);
  batch.actions[1] = -1;
  EXPECT_NE(error_for(batch).find("only at the last step, found -1 at step 1"), std::string::npos);
  batch = trajectory_batch(2, 3);
  batch.actions[2] = -1;
  EXPECT_NE(error_for(batch).find("of all sequences or of none"), std::string::npos);
  batch.actions[5] = -1;
  EXPECT_EQ(error_for(batch), "");
  // A missing last action does not change the logits of any sequence.
  const Tensor without_action = run(model, batch, {}).logits.value();
  const Tensor with_action = run(model, trajectory_batch(2, 3), {}).logits.value();
  ASSERT_EQ(without_action.shape(), (Shape{2, 3, 4}));
  EXPECT_TRUE(testing::close(without_action, with_action, 1e-5));
  Batch second = trajectory_batch(2, 3);
  second.returns = second.returns.slice(1, 1);
  second.states = second.states.slice(1, 1);
  second.actions = second.actions.slice(1, 1);
  EXPECT_TRUE(testing::close(run(model, second, {}).logits.value(), with_action.slice(1, 1), 1e-5));
}

// The last action may be missing; its prediction is a tanh, and the loss the mean squared error.
TEST(Trajectory, PredictsContinuousActions) {
  const ModelConfig config = config_of(
      R"("architecture": {"type": "trajectory", "state_size": 2, "actions": 3, "most_steps": 4,
          "continuous": true}, "vocabulary": 3, "tied_output": false)");
  Model model = make_model(config, 3);
  Batch batch = trajectory_batch(2, 3);
  const auto error_for = [&](const Batch& b) { return refusal_of([&] { run(model, b, {}); }); };
  EXPECT_NE(error_for(batch).find("actions: expected numbers of shape [2, 3, 3]"),
            std::string::npos);
  batch.actions = IntTensor();
  batch.moves = testing::random_tensor({2, 3, 3}, 4);
  const Tensor all = run(model, batch, {}).logits.value();
  ASSERT_EQ(all.shape(), (Shape{2, 3, 3}));
  for (const float x : all) EXPECT_LT(std::abs(x), 1);
  Batch scored = batch;
  scored.moves = batch.moves.copy();
  scored.targets = IntTensor::from({2, 3}, {0, 0, -1, 0, -1, -1});
  double sum = 0;
  for (const Index n : {0, 1, 3}) {
    for (Index c = 0; c < 3; ++c) {
      sum += std::pow(static_cast<double>(all[3 * n + c] - batch.moves[3 * n + c]), 2);
    }
  }
  const Output output = run(model, scored, {});
  ASSERT_EQ(output.losses.size(), 1u);
  EXPECT_TRUE(std::abs(static_cast<double>(output.losses[0].value.value()[0]) - sum / 9) <= 1e-6);
  batch.moves[2 * 3] = NAN;
  EXPECT_NE(error_for(batch).find("of all sequences or of none"), std::string::npos);
  batch.moves[5 * 3] = NAN;
  EXPECT_TRUE(testing::close(run(model, batch, {}).logits.value(), all, 1e-5));
  batch.moves[0] = NAN;
  EXPECT_NE(error_for(batch).find("found NaN at step 0"), std::string::npos);
  // Another continuous action changes the later predictions only.
  Batch changed = scored;
  changed.moves = scored.moves.copy();
  changed.moves[3] += 1;
  const Tensor other = run(model, changed, {}).logits.value();
  EXPECT_TRUE(testing::close(other.slice(0, 1).reshaped({3, 3}).slice(0, 2),
                             all.slice(0, 1).reshaped({3, 3}).slice(0, 2), 1e-6));
  EXPECT_NE(other[6], all[6]);
}

// By definition, the score of a layer is the sum of scores of neighbouring positions, weighted by
// exp(-distance²/sigma), minus lambda times the layer index. Ties go to the first layer.
TEST(ExitOracle, ChoosesLayerWithHighestScore) {
  const Index rows = 6, vocabulary = 4;
  for (const bool by_sequence : {false, true}) {
    for (const bool correctness : {false, true}) {
      for (const double sigma : {0.0, 1.5}) {
        for (const double lambda : {0.0, 0.1, 5.0}) {
          OracleInput input{.targets = IntTensor::from({rows}, {0, -1, 3, 1, 2, -1}), .length = 3};
          input.is_per_sequence = by_sequence;
          input.scores_correctness = correctness;
          input.sigma = sigma;
          input.lambda = lambda;
          std::vector<std::vector<double>> scores(3, std::vector<double>(rows));
          for (std::size_t n = 0; n < 3; ++n) {
            const Tensor logits = testing::random_tensor({rows, vocabulary}, n + 1, 2);
            input.add_layer(logits);
            for (Index row = 0; row < rows; ++row) {
              const std::int32_t target = input.targets[row];
              if (target < 0) continue;
              double sum = 0;
              Index best = 0;
              for (Index y = 0; y < vocabulary; ++y) {
                sum += std::exp(static_cast<double>(logits(row, y)));
                if (logits(row, y) > logits(row, best)) best = y;
              }
              scores[n][static_cast<std::size_t>(row)] =
                  correctness ? (best == target ? 1 : 0)
                              : static_cast<double>(logits(row, target)) - std::log(sum);
            }
          }
          const IntTensor found = oracle_layers(input);
          for (Index row = 0; row < rows; ++row) {
            if (input.targets[row] < 0) {
              EXPECT_EQ(found[row], -1);
              continue;
            }
            double best_value = -1e300;
            std::int32_t chosen = -1;
            for (std::size_t n = 0; n < 3; ++n) {
              double value = 0;
              for (Index other = row / 3 * 3; other < row / 3 * 3 + 3; ++other) {
                const auto distance = static_cast<double>(row - other);
                double weight = other == row ? 1 : 0;
                if (by_sequence)
                  weight = 1;
                else if (sigma > 0)
                  weight = std::exp(-distance * distance / sigma);
                value += weight * scores[n][static_cast<std::size_t>(other)];
              }
              value -= lambda * static_cast<double>(n);
              if (value > best_value + 1e-9) {
                best_value = value;
                chosen = static_cast<std::int32_t>(n);
              }
            }
            EXPECT_EQ(found[row], chosen) << by_sequence << correctness << sigma << lambda << row;
          }
        }
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
