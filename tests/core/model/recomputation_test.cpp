// Activation checkpointing, compared with training that keeps all activations.
#include "core/model/recomputation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/model/architecture.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/peak_storage.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Model trainable_model(const ModelConfig& config) {
  Model model = make_model(config, 1);
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  return model;
}

Batch batch_for(const ModelConfig& config, Index sequences, Index length) {
  IntTensor ids({sequences, length});
  for (Index n = 0; n < ids.size(); ++n) ids[n] = static_cast<std::int32_t>(7 * n % 250);
  Batch batch = next_token_batch(ids);
  if (architecture(config.architecture.id).has_encoder) batch.source = ids;
  return batch;
}

NamedVars gradients(const ModelConfig& config, bool recomputes_layers, bool stores_bfloat = false) {
  const Model model = trainable_model(config);
  ForwardOptions options;
  options.training = true;
  options.dropout_seed = 9;
  options.recomputes_layers = recomputes_layers;
  options.stores_bfloat = stores_bfloat;
  backward(run(model, batch_for(config, 2, 13), options).total_loss());
  return model.weights;
}

ModelConfig config_of(const std::string& architecture_id) {
  ModelConfig config = testing::small_config({.context = 16, .layers = 3});
  config.architecture = default_choice(architecture(architecture_id));
  return config;
}

TEST(Recomputation, GradientsEqualThoseOfAllActivations) {
  ModelConfig dropout = config_of("decoder"), shared = dropout, gated = dropout;
  dropout.dropout = 0.3;
  shared.own_layers = 1;
  gated.residual_connection = default_choice(residual_connection("gru"));
  const std::map<std::string, ModelConfig> configs{
      {"decoder", config_of("decoder")},
      {"dropout", dropout},
      {"shared", shared},
      {"gated", gated},
      {"encoder-decoder", config_of("encoder_decoder")},
      {"universal", config_of("universal")}};
  for (const auto& [name, config] : configs) {
    ASSERT_EQ(recomputation_refusal(config), "") << name;
    const NamedVars kept = gradients(config, false);
    for (const auto& [weight_name, weight] : gradients(config, true)) {
      const Tensor expected = kept.at(weight_name).gradient();
      ASSERT_EQ(weight.gradient().defined(), expected.defined()) << name << " " << weight_name;
      if (!expected.defined()) continue;
      EXPECT_TRUE(testing::same_gradient(weight.gradient(), expected, 1e-5))
          << name << " " << weight_name;
    }
  }
}

// Peak bytes of tensors during a training step, without the weights and their gradients.
double peak_of_step(Index layers, bool recomputes_layers, bool stores_bfloat = false) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = layers});
  const Model model = trainable_model(config);
  const Batch batch = batch_for(config, 8, 64);
  return testing::peak_storage([&] {
    ForwardOptions options;
    options.training = true;
    options.recomputes_layers = recomputes_layers;
    options.stores_bfloat = stores_bfloat;
    backward(run(model, batch, options).total_loss());
  });
}

// Each further layer adds its input instead of all its activations.
TEST(Recomputation, KeepsOnlyTheInputOfEachLayer) {
  const double kept = peak_of_step(12, false) - peak_of_step(2, false);
  const double recomputed = peak_of_step(12, true) - peak_of_step(2, true);
  EXPECT_GT(recomputed, 0);
  EXPECT_LT(recomputed, kept / 8);
}

TEST(Recomputation, StoresHalfTheBytesAsBfloat) {
  const double floats = peak_of_step(12, true) - peak_of_step(2, true);
  const double bfloats = peak_of_step(12, true, true) - peak_of_step(2, true, true);
  EXPECT_TRUE(std::abs(bfloats - floats / 2) <= 0.05 * floats) << bfloats << " of " << floats;
}

// Gradients are those of rounded layer inputs: near the exact ones, and not equal.
TEST(Recomputation, RoundsLayerInputsToBfloat) {
  for (const char* architecture_id : {"decoder", "encoder_decoder", "universal"}) {
    const ModelConfig config = config_of(architecture_id);
    const NamedVars exact = gradients(config, true), rounded = gradients(config, true, true);
    double difference = 0, size = 0;
    for (const auto& [name, weight] : rounded) {
      const Tensor a = weight.gradient(), b = exact.at(name).gradient();
      ASSERT_EQ(a.defined(), b.defined()) << name;
      for (Index n = 0; a.defined() && n < a.size(); ++n) {
        difference += std::pow(static_cast<double>(a[n] - b[n]), 2);
        size += std::pow(static_cast<double>(b[n]), 2);
      }
    }
    EXPECT_GT(difference, 0);
    EXPECT_LT(std::sqrt(difference / size), 0.02) << architecture_id;
  }
}

TEST(Recomputation, PacksNumbersIntoHalfTheBytes) {
  const Tensor values = Tensor::from({3}, {1, -0.37123f, 3e30f});
  const IntTensor packed = pack_bfloat(values);
  EXPECT_EQ(packed.size(), 2);
  const Tensor unpacked = unpack_bfloat(packed, {3});
  EXPECT_EQ(unpacked[0], 1);
  for (Index n = 0; n < 3; ++n) {
    EXPECT_TRUE(std::abs(unpacked[n] / values[n] - 1) <= 1 / 256.0f) << unpacked[n];
  }
}

TEST(Recomputation, RefusesModelsThatNeedTheTapeOfAllLayers) {
  ModelConfig segments = config_of("decoder"), reversible = segments;
  segments.segment = 8;
  reversible.residual_connection = default_choice(residual_connection("reversible"));
  EXPECT_EQ(recomputation_refusal(segments), "checkpointing: expected no segment, found 8");
  EXPECT_EQ(recomputation_refusal(reversible),
            "checkpointing: expected another join than reversible, which recomputes its layers in "
            "any case");
  EXPECT_EQ(recomputation_refusal(config_of("recurrent")),
            "checkpointing: expected an architecture with layers of attention, found recurrent");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
