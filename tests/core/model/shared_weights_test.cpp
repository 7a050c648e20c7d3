// Weights that all layers share: Linformer's layerwise projection.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/model/model.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Choice linformer(const std::string& share, Index k) {
  return variant_from_json({{"type", "linformer"}, {"k", k}, {"share", share}}, "variant");
}

ModelConfig bidirectional_config() {
  ModelConfig config = testing::small_config({.vocabulary = 11, .context = 9, .layers = 3});
  config.causal = false;
  config.groups = uniform_groups(config, linformer("layerwise", 4), default_encoding());
  return config;
}

Batch make_batch() {
  Batch batch;
  batch.ids = IntTensor::from({1, 7}, {1, 7, 3, 9, 0, 2, 5});
  batch.targets = IntTensor::from({1, 7}, {4, 2, 3, 10, 8, 1, 6});
  return batch;
}

TEST(SharedWeights, AreStoredOnceForAllLayers) {
  const Model model = make_model(bidirectional_config(), 3);
  EXPECT_EQ(weight(model.weights, "shared.lin.e").shape(), (Shape{4, 9}));
  EXPECT_EQ(std::ranges::count_if(
                model.weights,
                [](const auto& entry) { return entry.first.find("lin.") != std::string::npos; }),
            1);
  // A model with separate matrices per layer, all equal to the shared one, gives the same logits.
  Model separate = make_model(bidirectional_config(), 3);
  separate.config.groups =
      uniform_groups(separate.config, linformer("key_value", 4), default_encoding());
  const Var shared = separate.weights.extract("shared.lin.e").mapped();
  for (Index layer = 0; layer < 3; ++layer) {
    separate.weights.emplace(group_prefix(layer, 0) + "lin.e", shared);
  }
  EXPECT_TRUE(testing::close(run(model, make_batch(), {}).logits.value(),
                             run(separate, make_batch(), {}).logits.value(), 0));
}

TEST(SharedWeights, ReceiveGradientsOfAllLayers) {
  const Model base = make_model(bidirectional_config(), 3);
  Model model = base;
  for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
  backward(run(model, make_batch(), {}).total_loss());
  const Var& shared = weight(model.weights, "shared.lin.e");
  const Tensor direction = testing::random_tensor(shared.shape(), 9, 1);
  double slope = 0;
  for (Index i = 0; i < direction.size(); ++i) {
    slope += static_cast<double>(shared.gradient()[i]) * static_cast<double>(direction[i]);
  }
  constexpr double kStep = 1e-2;
  const auto loss_at = [&](double offset) {
    Model moved = base;
    Tensor sum(direction.shape());
    for (Index i = 0; i < sum.size(); ++i) {
      sum[i] = static_cast<float>(static_cast<double>(shared.value()[i]) +
                                  offset * static_cast<double>(direction[i]));
    }
    moved.weights["shared.lin.e"] = Var(sum);
    return static_cast<double>(run(moved, make_batch(), {}).total_loss().value()[0]);
  };
  const double expected = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  EXPECT_NEAR(slope, expected, 5e-3 * std::max(0.01, std::abs(expected)));
}

TEST(SharedWeights, AreCreatedForNewGroups) {
  ModelConfig config = bidirectional_config();
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  const Model full = make_model(config, 3);
  const Model model = with_groups(full, bidirectional_config().groups, false, 7);
  const Tensor& e = weight(model.weights, "shared.lin.e").value();
  ASSERT_EQ(e.shape(), (Shape{4, 9}));
  EXPECT_EQ(std::ranges::count(model.untrained, "shared.lin.e"), 1);
  for (Index row = 0; row < 4; ++row) {  // illustrative: means of windows of the 7 tokens
    double sum = 0;
    for (Index j = 0; j < 9; ++j) sum += static_cast<double>(e(row, j));
    EXPECT_NEAR(sum, 1, 1e-6);
  }
  // Other groups of the same variant keep the matrix.
  const Model again = with_groups(model, bidirectional_config().groups, false, 7);
  EXPECT_EQ(weight(again.weights, "shared.lin.e").value().data(), e.data());
}

TEST(SharedWeights, AllowSmallerRanksInLaterLayersUnlessShared) {
  ModelConfig config = bidirectional_config();
  for (Index layer = 0; layer < 3; ++layer) {
    config.groups[static_cast<std::size_t>(layer)][0].variant = linformer("key_value", 5 - layer);
  }
  const Model model = make_model(config, 3);
  EXPECT_EQ(weight(model.weights, group_prefix(0, 0) + "lin.e").dim(0), 5);
  EXPECT_EQ(weight(model.weights, group_prefix(2, 0) + "lin.e").dim(0), 3);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, make_batch(), options);
  ASSERT_EQ(trace.attention.size(), 3u);
  EXPECT_EQ(trace.attention[0].result.attention.dim(2), 5);
  EXPECT_EQ(trace.attention[2].result.attention.dim(2), 3);
  config.groups[1][0].variant = linformer("layerwise", 4);
  config.groups[2][0].variant = linformer("layerwise", 3);
  try {
    check(config, "config.json");
    ADD_FAILURE() << "accepted different shapes of a shared weight";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("layer 2: lin.e: expected shape [4, 9]"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
