#include "core/model/logit_lens.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "tests/core/model/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Rows;

ModelConfig config_of(Norm norm, bool is_tied, bool pre_norm) {
  ModelConfig config;
  config.vocabulary = 17;
  config.context = 128;
  config.width = 12;
  config.layers = 3;
  config.heads = config.kv_heads = 2;
  config.head_size = 6;
  config.hidden = 20;
  config.norm = norm;
  config.tied_output = is_tied;
  config.pre_norm = pre_norm;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  return config;
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 5);
  std::uint64_t seed = 3;
  for (auto& [name, weight] : model.weights) {
    Tensor values = testing::random_tensor(weight.shape(), ++seed, 0.5);
    if (name.ends_with("norm.weight")) {
      for (float& x : values) x += 1;
    }
    weight = Var(values);
  }
  return model;
}

Trace run(const Model& model, Index length) {
  IntTensor ids({1, length});
  for (Index i = 0; i < length; ++i) ids[i] = static_cast<std::int32_t>((5 * i + 2) % 17);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  forward(model, ids, options);
  return trace;
}

// Returns the next-token probabilities for a layer's state, computed from the equations.
Rows probabilities(const Model& model, const Tensor& state) {
  const ModelConfig& c = model.config;
  const auto w = [&](const std::string& name) { return model.weights.at(name).value(); };
  Rows x = testing::rows_of(state);
  if (c.pre_norm) {
    x = c.norm == Norm::RmsNorm ? testing::rms_norm_rows(x, w("final_norm.weight"), c.norm_epsilon)
                                : testing::layer_norm_rows(x, w("final_norm.weight"),
                                                           w("final_norm.bias"), c.norm_epsilon);
  }
  Rows p = c.tied_output ? testing::times_transposed(x, w("embed.weight"))
                         : testing::times(x, w("output.weight"));
  for (auto& row : p) {
    const double maximum = *std::max_element(row.begin(), row.end());
    for (double& l : row) l = std::exp(l - maximum);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& l : row) l /= sum;
  }
  return p;
}

TEST(LogitLens, AppliesOutputHeadToEveryLayer) {
  for (const auto& [norm, tied, pre_norm] : {std::tuple{Norm::RmsNorm, true, true},
                                             {Norm::LayerNorm, false, true},
                                             {Norm::RmsNorm, false, false}}) {
    const Model model = make_random_model(config_of(norm, tied, pre_norm));
    const Trace trace = run(model, 70);  // more than one block of rows
    const LogitLens lens = logit_lens(model, trace);
    ASSERT_EQ(lens.guess.shape(), Shape({3, 70}));
    const Rows last = probabilities(model, trace.taps.at("layers.2.residual"));
    for (Index layer = 0; layer < 3; ++layer) {
      const Rows p =
          probabilities(model, trace.taps.at("layers." + std::to_string(layer) + ".residual"));
      for (Index i = 0; i < 70; ++i) {
        std::vector<double> row = p[static_cast<std::size_t>(i)];
        const auto& final_row = last[static_cast<std::size_t>(i)];
        const auto final_guess =
            std::max_element(final_row.begin(), final_row.end()) - final_row.begin();
        EXPECT_NEAR(lens.final_guess_probability(layer, i),
                    row[static_cast<std::size_t>(final_guess)], 1e-4);
        const auto best = std::max_element(row.begin(), row.end()) - row.begin();
        EXPECT_EQ(lens.guess(layer, i), best) << layer << ", " << i;
        std::sort(row.rbegin(), row.rend());
        EXPECT_NEAR(lens.probability(layer, i), row[0], 1e-4);
        EXPECT_NEAR(lens.margin(layer, i), row[0] - row[1], 1e-4);
      }
    }
  }
}

// The losses that train intermediate layers and further targets, from another computation.
TEST(LogitLens, MeanBitsAreAuxiliaryLosses) {
  ModelConfig config = config_of(Norm::RmsNorm, true, true);
  config.auxiliary = {.layers = true, .future = 2};
  const Model model = make_random_model(config);
  constexpr Index kLength = 11;
  IntTensor ids({1, kLength});
  for (Index i = 0; i < kLength; ++i) ids[i] = static_cast<std::int32_t>((5 * i * i + 2) % 17);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  const Output output = attnscope::run(model, next_token_batch(ids), options);
  EXPECT_FALSE(logit_lens(model, trace).target_probability.defined());  // no tokens
  for (const std::int32_t id : ids) trace.tokens.push_back({id, "", ""});
  trace.token_bits = Tensor({kLength});
  const LogitLens lens = logit_lens(model, trace);
  std::map<std::string, double> nats;
  const std::vector<double> layers = mean_bits(lens.target_probability),
                            later = mean_bits(lens.later_target_probability);
  ASSERT_EQ(layers.size(), 3u);
  ASSERT_EQ(later.size(), 2u);
  nats["layers"] = layers[0] + layers[1];
  nats["language_model"] = layers[2];
  nats["future"] = later[0] + later[1];
  ASSERT_EQ(output.losses.size(), 3u);
  for (const Loss& loss : output.losses) {
    const auto expected = static_cast<double>(loss.value.value()[0]);
    const double difference = nats.at(loss.name) * std::log(2.0) - expected;
    EXPECT_TRUE(std::abs(difference) <= 1e-5 * expected) << loss.name << " " << difference;
  }
  EXPECT_TRUE(std::isnan(lens.target_probability(0, kLength - 1)));
  EXPECT_TRUE(std::isnan(lens.later_target_probability(1, kLength - 3)));
}

TEST(LogitLens, SaturationIsCosineOfSuccessiveStates) {
  const Model model = make_random_model(config_of(Norm::RmsNorm, true, true));
  const Trace trace = run(model, 5);
  const LogitLens lens = logit_lens(model, trace);
  const Tensor& old_state = trace.taps.at("embed");
  const Tensor& new_state = trace.taps.at("layers.0.residual");
  double product = 0, a = 0, b = 0;
  for (Index c = 0; c < 12; ++c) {
    product += static_cast<double>(old_state(3, c)) * static_cast<double>(new_state(3, c));
    a += std::pow(static_cast<double>(old_state(3, c)), 2);
    b += std::pow(static_cast<double>(new_state(3, c)), 2);
  }
  EXPECT_NEAR(lens.saturation(0, 3), product / std::sqrt(a * b), 1e-5);
}

// With recurrence over depth, the lens has one row per step and layer.
TEST(LogitLens, CoversLayersOfEveryStep) {
  ModelConfig config = config_of(Norm::RmsNorm, false, true);
  config.architecture = {"universal", default_values(architecture("universal").parameters)};
  config.architecture.values.set("steps", Index{2});
  const Model model = make_random_model(config);
  const Trace trace = run(model, 5);
  const LogitLens lens = logit_lens(model, trace);
  ASSERT_EQ(lens.guess.shape(), (Shape{6, 5}));
  const Tensor& old_state = trace.taps.at("steps.1.layers.2.residual");
  const Tensor& new_state = trace.taps.at("steps.2.layers.0.residual");
  for (Index i = 0; i < 5; ++i) {
    double ab = 0, aa = 0, bb = 0;
    for (Index c = 0; c < 12; ++c) {
      const auto a = static_cast<double>(old_state(i, c)), b = static_cast<double>(new_state(i, c));
      ab += a * b;
      aa += a * a;
      bb += b * b;
    }
    EXPECT_TRUE(std::abs(static_cast<double>(lens.saturation(3, i)) - ab / std::sqrt(aa * bb)) <=
                1e-5);
    const float* row = trace.logits.value().data() + i * 17;
    EXPECT_EQ(lens.guess(5, i), std::max_element(row, row + 17) - row);
  }
}

// Returns an empty string, or the first difference between the lens of each position and its
// column.
std::string difference_by_token(const Model& model, const Trace& trace) {
  const auto no_owner = [](const auto& object) {
    return std::shared_ptr<const std::remove_cvref_t<decltype(object)>>(std::shared_ptr<void>(),
                                                                        &object);
  };
  const LogitLens lens = logit_lens(model, trace);
  const TokenLens computed(no_owner(model), no_owner(trace)), known(lens);
  const Index layers = lens.guess.dim(0);
  for (const TokenLens* by_token : {&computed, &known}) {
    if (by_token->length() != lens.guess.dim(1)) return "length";
    for (Index i = 0; i < by_token->length(); ++i) {
      const LogitLens column = by_token->at(i);
      if (column.guess.shape() != Shape{layers, 1}) return to_string(column.guess.shape());
      for (Index n = 0; n < layers; ++n) {
        if (column.guess[n] != lens.guess(n, i) ||
            column.probability[n] != lens.probability(n, i) ||
            column.margin[n] != lens.margin(n, i) ||
            column.final_guess_probability[n] != lens.final_guess_probability(n, i)) {
          return "layer " + std::to_string(n) + ", position " + std::to_string(i);
        }
      }
    }
  }
  return "";
}

TEST(LogitLens, LensOfTokensEqualsColumnsOfFullLens) {
  for (const Index length : {3, 70}) {
    const Model model = make_random_model(config_of(Norm::RmsNorm, true, true));
    EXPECT_EQ(difference_by_token(model, run(model, length)), "");
  }
  ModelConfig exiting = config_of(Norm::RmsNorm, false, true);
  exiting.exits = Choice{"geometric", default_values(exit_rule("geometric").parameters)};
  exiting.exits->values.set("classifier", std::string("own"));
  const Model own_classifiers = make_random_model(exiting);
  EXPECT_EQ(difference_by_token(own_classifiers, run(own_classifiers, 6)), "");
  ModelConfig recurrent = config_of(Norm::RmsNorm, false, true);
  recurrent.architecture = {"universal", default_values(architecture("universal").parameters)};
  recurrent.architecture.values.set("halting", std::string("act"));
  recurrent.architecture.values.set("epsilon", 0.5);
  const Model halting = make_random_model(recurrent);
  const Trace halted = run(halting, 6);
  EXPECT_TRUE(halted.counts.contains("halting.steps"));
  EXPECT_EQ(difference_by_token(halting, halted), "");
}

TEST(LogitLens, RequiresStatesOfAllLayers) {
  const Model model = make_random_model(config_of(Norm::RmsNorm, true, true));
  Trace trace = run(model, 3);
  trace.taps.erase("layers.1.residual");
  EXPECT_THROW(logit_lens(model, trace), WorkError);
}

TEST(LogitLens, StopsOnRequest) {
  const Model model = make_random_model(config_of(Norm::RmsNorm, true, true));
  const Trace trace = run(model, 3);
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(logit_lens(model, trace), Stopped);
}

LogitLens handmade_lens() {
  LogitLens lens;
  lens.guess = IntTensor::from({3, 2}, {1, 4, 2, 5, 2, 5});
  lens.margin = Tensor::from({3, 2}, {0.9f, 0.1f, 0.2f, 0.6f, 0.3f, 0.2f});
  lens.probability = lens.saturation = lens.final_guess_probability = lens.margin;
  return lens;
}

TEST(ExitLayers, AreFirstConfidentLayers) {
  const LogitLens lens = handmade_lens();
  EXPECT_EQ(exit_layers(lens, Confidence::Margin, 0.5), (std::vector<Index>{0, 1}));
  EXPECT_EQ(exit_layers(lens, Confidence::Margin, 0), (std::vector<Index>{0, 0}));
  EXPECT_EQ(exit_layers(lens, Confidence::Margin, 1), (std::vector<Index>{2, 2}));
  const ExitSummary early_summary = exit_summary(lens, {0, 1});
  EXPECT_DOUBLE_EQ(early_summary.saved, 1 - 3.0 / 6);
  EXPECT_DOUBLE_EQ(early_summary.agreement,
                   0.5);  // the first token's guess would have changed later
  const ExitSummary full_summary = exit_summary(lens, {2, 2});
  EXPECT_DOUBLE_EQ(full_summary.saved, 0);
  EXPECT_DOUBLE_EQ(full_summary.agreement, 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
