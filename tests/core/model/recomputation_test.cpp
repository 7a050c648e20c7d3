// Activation checkpointing, compared with training that keeps all activations.
#include "core/model/recomputation.h"

#include <gtest/gtest.h>

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

NamedVars gradients(const ModelConfig& config, bool recomputes_layers) {
  const Model model = trainable_model(config);
  ForwardOptions options;
  options.training = true;
  options.dropout_seed = 9;
  options.recomputes_layers = recomputes_layers;
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
double peak_of_step(Index layers, bool recomputes_layers) {
  const ModelConfig config = testing::small_config({.context = 64, .layers = layers});
  const Model model = trainable_model(config);
  const Batch batch = batch_for(config, 8, 64);
  return testing::peak_storage([&] {
    ForwardOptions options;
    options.training = true;
    options.recomputes_layers = recomputes_layers;
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
