// Tests JSON, gradients and effects of options of embeddings and output heads, and of layers that
// share weights.
#include <gtest/gtest.h>

#include "core/autodiff/var.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/model/input_kind.h"
#include "core/model/model.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

const std::string kSizes =
    R"("vocabulary": 11, "context": 6, "width": 8, "layers": 3, "heads": 2, "hidden": 12,
       "norm": "layer", "pre_norm": false, "gated": false, "activation": "gelu", "causal": false,
       "attention_biases": true, "feed_forward_biases": true, "position": {"type": "learned"})";
const std::string kOptions =
    R"(, "embedding": {"width": 6, "types": 2, "norm": true}, "own_layers": 2,
       "head": {"transform": true, "activation": "gelu_tanh", "bias": true})";

ModelConfig parse_config(const std::string& members, const std::string& sizes = kSizes) {
  return model_config_from_json(parse_json("{" + sizes + members + "}", "config.json"),
                                "config.json");
}

std::string error_of(const std::string& members, const std::string& sizes = kSizes) {
  try {
    parse_config(members, sizes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 5);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    const Tensor noise = testing::random_tensor(weight.shape(), ++seed, 0.4);
    Tensor sum(weight.shape());
    for (Index i = 0; i < sum.size(); ++i) sum[i] = weight.value()[i] + noise[i];
    weight = Var(sum);
  }
  return model;
}

Batch make_batch() {
  Batch batch;
  batch.ids = IntTensor::from({1, 6}, {1, 7, 3, 9, 0, 2});
  batch.types = IntTensor::from({1, 6}, {0, 0, 0, 1, 1, 1});
  batch.targets = IntTensor::from({1, 6}, {4, -1, 3, 10, 8, 1});
  return batch;
}

double loss_of(const Model& model) {
  return static_cast<double>(run(model, make_batch(), {}).total_loss().value()[0]);
}

// Compares the gradient of each weight with central differences along a random direction.
void expect_gradients(const Model& base_model) {
  Model model = base_model;
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  backward(run(model, make_batch(), {}).total_loss());
  std::uint64_t seed = 400;
  for (const auto& [name, weight] : model.weights) {
    const Tensor direction = testing::random_tensor(weight.shape(), ++seed, 1);
    const Tensor gradient = weight.gradient();
    ASSERT_TRUE(gradient.defined()) << name;
    double slope = 0;
    for (Index i = 0; i < direction.size(); ++i) {
      slope += static_cast<double>(gradient[i]) * static_cast<double>(direction[i]);
    }
    constexpr double kStep = 1e-3;
    const auto loss_at = [&](double offset) {
      Model moved_model = base_model;
      Tensor sum(direction.shape());
      for (Index i = 0; i < sum.size(); ++i) {
        sum[i] = static_cast<float>(static_cast<double>(weight.value()[i]) +
                                    offset * static_cast<double>(direction[i]));
      }
      moved_model.weights[name] = Var(sum);
      return loss_of(moved_model);
    };
    const double expected = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
    EXPECT_NEAR(slope, expected, 5e-3 * std::max(1.0, std::abs(expected)))
        << name << ": " << slope << " and " << expected;
  }
}

TEST(EmbeddingAndHead, RoundTripThroughJson) {
  const ModelConfig config = parse_config(kOptions);
  EXPECT_EQ(config.embedding.width, 6);
  EXPECT_EQ(config.embedding.types, 2);
  EXPECT_TRUE(config.embedding.norm);
  EXPECT_EQ(config.head.activation, Activation::GeluTanh);
  EXPECT_EQ(config.own_layers, 2);
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
}

TEST(EmbeddingAndHead, RejectInvalidCombinations) {
  EXPECT_NE(error_of(R"(, "embedding": {"width": 6})")
                .find("embedding.width: expected tied_output false"),
            std::string::npos);
  EXPECT_NE(error_of(R"(, "own_layers": 4)").find("own_layers: expected at most the 3 layers"),
            std::string::npos);
  EXPECT_NE(error_of(R"(, "embedding": {"first_norm": true})").find("embedding.first_norm"),
            std::string::npos);
  EXPECT_NE(error_of(R"(, "embedding": {"kinds": 2})").find("\"kinds\": unknown key"),
            std::string::npos);
  EXPECT_NE(error_of(R"(, "embedding": {"types": 2},
                        "architecture": {"type": "universal", "steps": 2})")
                .find("embedding.types"),
            std::string::npos);
}

TEST(EmbeddingAndHead, HaveCorrectGradients) {
  expect_gradients(make_random_model(parse_config(kOptions)));
}

TEST(EmbeddingAndHead, HaveCorrectGradientsForSharedFirstNorm) {
  const std::string sizes =
      R"("vocabulary": 11, "context": 6, "width": 8, "layers": 2, "heads": 2, "hidden": 12,
         "norm": "layer", "causal": false, "position": {"type": "rope"})";
  const ModelConfig config =
      parse_config(R"(, "embedding": {"norm": true, "types": 2, "first_norm": true})", sizes);
  const Model model = make_random_model(config);
  EXPECT_FALSE(model.weights.contains("layers.0.attn_norm.weight"));
  EXPECT_TRUE(model.weights.contains("layers.1.attn_norm.weight"));
  expect_gradients(model);
}

TEST(EmbeddingAndHead, UseFirstLayersWeightsInSharingLayers) {
  const Model model = make_random_model(parse_config(kOptions));
  EXPECT_TRUE(model.weights.contains("layers.0.attn.wq"));
  EXPECT_FALSE(model.weights.contains("layers.1.attn.wq"));  // layers use weight sets 0, 0, 1
  EXPECT_TRUE(model.weights.contains("layers.2.attn.wq"));
  Model unshared_model = model;  // weights copied to each layer
  unshared_model.config.own_layers = 0;
  for (const auto& [name, weight] : model.weights) {
    const std::string first = "layers.0.";
    if (name.starts_with(first))
      unshared_model.weights.emplace("layers.1." + name.substr(9), weight);
  }
  Batch batch = make_batch();
  EXPECT_TRUE(testing::close(run(model, batch, {}).logits.value(),
                             run(unshared_model, batch, {}).logits.value(), 1e-6));
}

TEST(EmbeddingAndHead, DistinguishSentencesByTokenType) {
  const Model model = make_random_model(parse_config(kOptions));
  Batch batch = make_batch();
  const Tensor with_types = run(model, batch, {}).logits.value();
  batch.types = IntTensor();
  EXPECT_TRUE(testing::differs(with_types, run(model, batch, {}).logits.value(), 1e-3));
  batch.types = IntTensor::from({1, 6}, {0, 0, 0, 1, 1, 2});
  EXPECT_THROW(run(model, batch, {}), InputError);
}

TEST(Patches, ContainColoursRowsAndColumns) {
  Values image = default_values(input_kind("patches").parameters);
  image.set("width", Index{4});
  image.set("height", Index{2});
  image.set("patch", Index{2});
  image.set("mean", std::vector<double>{1, 0, 0});
  image.set("deviation", std::vector<double>{1, 2, 1});
  Tensor colours({2, 4, 3});
  for (Index n = 0; n < colours.size(); ++n) colours[n] = static_cast<float>(n);
  const Tensor patches = input_kind("patches").patch_pixels(colours, image);
  ASSERT_EQ(patches.shape(), (Shape{1, 2, 12}));
  // The second patch has columns 2 and 3. Normalisation subtracts 1 from red and halves green.
  const float expected[] = {5, 8, 17, 20, 3.5f, 5, 9.5f, 11, 8, 11, 20, 23};
  for (Index n = 0; n < 12; ++n) EXPECT_EQ(patches[12 + n], expected[n]) << n;
}

TEST(Patches, RequireAnImage) {
  const ModelConfig config = model_config_from_json(
      parse_json(R"({"vocabulary": 2, "context": 5, "width": 8, "layers": 1, "heads": 2,
                     "hidden": 4, "causal": false, "output_head": false,
                     "input": {"type": "patches", "width": 4, "height": 4, "patch": 2, "extra": 1}})",
                 "config.json"),
      "config.json");
  EXPECT_EQ(model_config_from_json(to_json(config), "again"), config);
  const Model model = make_model(config, 1);
  Batch batch;
  batch.ids = IntTensor::from({1, 5}, {0, 1, 1, 1, 1});
  EXPECT_THROW(run(model, batch, {}), InputError);
  batch.patches = testing::random_tensor({1, 4, 12}, 3, 1);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, batch, options);
  EXPECT_EQ(trace.taps.at("final").shape(), (Shape{5, 8}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
