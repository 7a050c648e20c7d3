// Universal Transformer as encoder-decoder, and its separable convolutions (Dehghani et al., 2018).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/model.h"
#include "core/model/separable_convolution.h"
#include "core/trace/trace.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr double kTolerance = 2e-5;

ModelConfig stacks_config(Index layers, const std::string& architecture) {
  return model_config_from_json(
      parse_json(R"({"vocabulary": 11, "context": 16, "width": 8, "heads": 2, "hidden": 12,
                     "position": {"type": "sinusoidal"}, "layers": )" +
                     std::to_string(layers) + R"(, "architecture": )" + architecture + "}",
                 "test"),
      "config.json");
}

Model random_model(const ModelConfig& config) {
  Model model = make_model(config, 3);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    weight = Var(testing::random_tensor(weight.shape(), ++seed, 0.5));
  }
  return model;
}

Batch source_and_target() {
  Batch batch = next_token_batch(IntTensor::from({1, 5}, {10, 4, 4, 2, 6}));
  batch.source = IntTensor::from({1, 6}, {3, 9, 1, 7, 3, 5});
  return batch;
}

// Two steps of one layer are two layers with equal weights.
TEST(UniversalEncoderDecoder, StepsAreLayersWithSharedWeights) {
  const Model universal = random_model(stacks_config(
      1, R"({"type": "universal_encoder_decoder", "encoder_layers": 1, "steps": 2, "start": 10})"));
  Model stacked = random_model(
      stacks_config(2, R"({"type": "encoder_decoder", "encoder_layers": 2, "start": 10})"));
  for (auto& [name, weight] : stacked.weights) {
    std::string shared = name;
    const std::size_t layer = shared.find("layers.1.");
    if (layer != std::string::npos) shared.replace(layer, 9, "layers.0.");
    weight = universal.weights.at(shared);
  }
  const Batch batch = source_and_target();
  EXPECT_TRUE(testing::close(run(universal, batch, {}).logits.value(),
                             run(stacked, batch, {}).logits.value(), kTolerance));
}

// Source and target tokens halt independently; outputs, losses and records agree.
TEST(UniversalEncoderDecoder, BothStacksHalt) {
  Model model = random_model(
      stacks_config(1, R"({"type": "universal_encoder_decoder", "encoder_layers": 1, "steps": 4,
             "halting": "act", "ponder": 0.5, "start": 10})"));
  model.weights["halt.b"] = Var(Tensor::full({1}, -0.5f));
  model.weights["encoder.halt.b"] = Var(Tensor::full({1}, -0.3f));
  const Batch batch = source_and_target();
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  const Output output = run(model, batch, options);
  for (const std::string prefix : {"encoder.", ""}) {
    const Tensor& h = trace.taps.at(prefix + "halting.probability");
    const IntTensor& steps = trace.counts.at(prefix + "halting.steps");
    const Tensor& remainder = trace.taps.at(prefix + "halting.remainder");
    const Index count = prefix.empty() ? batch.ids.dim(1) : batch.source.dim(1);
    ASSERT_EQ(steps.size(), count);
    double cost = 0;
    for (Index i = 0; i < count; ++i) {
      double sum = 0;
      for (Index t = 0; t + 1 < steps[i]; ++t) sum += static_cast<double>(h(t, i));
      EXPECT_NEAR(static_cast<double>(remainder[i]), 1 - sum, 1e-5);
      EXPECT_TRUE(steps[i] == 4 || sum + static_cast<double>(h(steps[i] - 1, i)) >= 0.99);
      cost += (steps[i] + 1 - sum) / static_cast<double>(count);
    }
    const auto loss =
        std::ranges::find(output.losses, prefix.empty() ? "ponder" : "encoder_ponder", &Loss::name);
    ASSERT_NE(loss, output.losses.end());
    EXPECT_NEAR(static_cast<double>(loss->value.value()[0]), cost, 1e-4);
    EXPECT_NEAR(static_cast<double>(loss->weighted.value()[0]), 0.5 * cost, 1e-4);
  }
  Index encoder_taps = 0, cross_taps = 0;
  for (const AttentionTap& tap : trace.attention) {
    EXPECT_GT(tap.address.step, 0);
    encoder_taps += tap.address.stack == Stack::Encoder;
    cross_taps += tap.address.kind == AttentionKind::Cross;
  }
  EXPECT_GT(encoder_taps, 1);
  EXPECT_GT(cross_taps, 1);
}

// With a large halting bias every token halts at its first step: a single step of the layers.
TEST(UniversalEncoderDecoder, HaltingAtOnceIsOneStep) {
  const auto config = [](const std::string& halting) {
    return stacks_config(1, R"({"type": "universal_encoder_decoder", "encoder_layers": 1,
                               "start": 10, )" +
                                halting + "}");
  };
  Model halting = random_model(config(R"("steps": 6, "halting": "act")"));
  halting.weights["halt.b"] = halting.weights["encoder.halt.b"] = Var(Tensor::full({1}, 30));
  Model single = random_model(config(R"("steps": 1)"));
  for (auto& [name, weight] : single.weights) weight = halting.weights.at(name);
  const Batch batch = source_and_target();
  EXPECT_TRUE(testing::close(run(halting, batch, {}).logits.value(),
                             run(single, batch, {}).logits.value(), kTolerance));
}

TEST(DepthwiseConvolution, MatchesReference) {
  const Tensor x = testing::random_tensor({2, 7, 3}, 1), kernel = testing::random_tensor({5, 3}, 2);
  for (const bool is_causal : {true, false}) {
    const Tensor y = depthwise_convolution(Var(x), Var(kernel), is_causal).value();
    for (Index b = 0; b < 2; ++b) {
      for (Index t = 0; t < 7; ++t) {
        for (Index c = 0; c < 3; ++c) {
          double sum = 0;
          for (Index j = 0; j < 5; ++j) {
            const Index row = t + j - (is_causal ? 4 : 2);
            if (row < 0 || row >= 7) continue;
            sum += static_cast<double>(kernel(j, c)) * static_cast<double>(x(b, row, c));
          }
          EXPECT_TRUE(std::abs(static_cast<double>(y(b, t, c)) - sum) <= 1e-5);
        }
      }
    }
  }
}

constexpr const char* kConvolution =
    R"({"type": "universal", "steps": 2, "transition": "separable_convolution"})";

// If the kernels read only the token itself, the convolutions equal a feed-forward network.
TEST(SeparableConvolution, IdentityKernelsAreTheFeedForward) {
  Model convolution = random_model(stacks_config(1, kConvolution));
  const auto kernel = [](Index size, Index channels) {
    Tensor weights = Tensor::zeros({size, channels});
    for (Index c = 0; c < channels; ++c) weights(size - 1, c) = 1;
    return Var(weights);
  };
  convolution.weights["layers.0.ffn.in_kernel"] = kernel(3, 8);
  convolution.weights["layers.0.ffn.out_kernel"] = kernel(5, 12);
  Model plain = random_model(stacks_config(1, R"({"type": "universal", "steps": 2})"));
  for (auto& [name, weight] : plain.weights) weight = convolution.weights.at(name);
  const IntTensor ids = IntTensor::from({2, 4}, {3, 9, 1, 7, 10, 2, 2, 5});
  EXPECT_TRUE(testing::close(forward(convolution, ids, {}).value(), forward(plain, ids, {}).value(),
                             kTolerance));
}

// A causal stack predicts a token from earlier ones alone; other stacks see both sides.
TEST(SeparableConvolution, CausalStacksDoNotSeeLaterTokens) {
  const Model model = random_model(stacks_config(1, kConvolution));
  const Tensor a = forward(model, IntTensor::from({1, 5}, {3, 9, 1, 7, 2}), {}).value();
  const Tensor b = forward(model, IntTensor::from({1, 5}, {3, 9, 1, 7, 8}), {}).value();
  const Index earlier = 4 * 11;
  for (Index n = 0; n < earlier; ++n) EXPECT_EQ(a[n], b[n]) << n;
  ModelConfig config = model.config;
  config.causal = false;
  Model bidirectional = model;
  bidirectional.config = config;
  const Tensor c = forward(bidirectional, IntTensor::from({1, 5}, {3, 9, 1, 7, 2}), {}).value();
  const Tensor d = forward(bidirectional, IntTensor::from({1, 5}, {3, 9, 1, 7, 8}), {}).value();
  double difference = 0;
  for (Index n = 0; n < 11; ++n) difference += std::abs(static_cast<double>(c[n] - d[n]));
  EXPECT_GT(difference, 1e-4);
}

TEST(SeparableConvolution, RejectsModelsWithoutFeedForwardAndExperts) {
  const auto refusal = [](const std::string& members) -> std::string {
    try {
      model_config_from_json(parse_json(R"({"vocabulary": 11, "context": 16, "width": 8,
          "layers": 1, "heads": 2, "architecture": )" +
                                            std::string(kConvolution) + ", " + members + "}",
                                        "test"),
                             "config.json");
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal(R"("hidden": 0)").find("architecture.transition"), std::string::npos);
  EXPECT_NE(refusal(R"("hidden": 8, "experts": {"count": 4})").find("architecture.transition"),
            std::string::npos);
  EXPECT_EQ(refusal(R"("hidden": 8)"), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
