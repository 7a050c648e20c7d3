// Compares the peak training memory of residual connections, which keep all activations, with the
// peak of reversible layers, which recompute the activations.
#include <gtest/gtest.h>

#include "core/model/model.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/peak_storage.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

struct Sizes {
  Index layers = 2, chunks = 1, hidden = 64;
};

// Returns the peak bytes of tensors during a training step, without the weights and their
// gradients.
double peak_of_step(const std::string& id, const Sizes& sizes) {
  ModelConfig config =
      testing::small_config({.context = 64, .layers = sizes.layers, .hidden = sizes.hidden});
  config.residual_connection = {id, default_values(residual_connection(id).parameters)};
  if (config.residual_connection.values.has("chunks"))
    config.residual_connection.values.set("chunks", sizes.chunks);
  Model model = make_model(config, 1);
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  const Batch batch = next_token_batch(IntTensor::full({8, 64}, 3));
  return testing::peak_storage([&] {
    ForwardOptions options;
    options.training = true;
    backward(run(model, batch, options).total_loss());
  });
}

TEST(Reversible, TrainingMemoryDoesNotGrowWithDepth) {
  const double two_layer_peak = peak_of_step("reversible", {.layers = 2});
  const double twelve_layer_peak = peak_of_step("reversible", {.layers = 12});
  EXPECT_GT(two_layer_peak, 0);
  EXPECT_LT(twelve_layer_peak, 1.05 * two_layer_peak);
  // Ordinary blocks keep all activations of their layers.
  EXPECT_GT(peak_of_step("residual", {.layers = 12}), 3 * peak_of_step("residual", {.layers = 2}));
  EXPECT_LT(twelve_layer_peak, peak_of_step("residual", {.layers = 12}) / 3);
}

// Peak memory of a wide feed-forward decreases with the number of chunks.
TEST(Reversible, ChunksReduceMemory) {
  const double peak = peak_of_step("reversible", {.chunks = 1, .hidden = 1024});
  const double chunked_peak = peak_of_step("reversible", {.chunks = 8, .hidden = 1024});
  EXPECT_LT(chunked_peak, peak / 2);
}

// The number of chunks does not change the gradients, with or without dropout.
TEST(Reversible, GradientsDoNotDependOnChunks) {
  const auto gradients = [](Index chunks, double dropout) {
    ModelConfig config = testing::small_config({.context = 16, .layers = 3});
    config.residual_connection = {"reversible",
                                  default_values(residual_connection("reversible").parameters)};
    config.residual_connection.values.set("chunks", chunks);
    config.dropout = dropout;
    Model model = make_model(config, 1);
    for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
    ForwardOptions options;
    options.training = true;
    options.dropout_seed = 9;
    IntTensor ids({2, 13});
    for (Index n = 0; n < ids.size(); ++n) ids[n] = static_cast<std::int32_t>(7 * n % 250);
    backward(run(model, next_token_batch(ids), options).total_loss());
    return model.weights;
  };
  for (const double dropout : {0.0, 0.3}) {
    const NamedVars whole = gradients(1, dropout);
    for (const Index chunks : {2, 5, 100}) {
      for (const auto& [name, weight] : gradients(chunks, dropout)) {
        EXPECT_TRUE(testing::same_gradient(weight.gradient(), whole.at(name).gradient(), 1e-4))
            << name;
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
