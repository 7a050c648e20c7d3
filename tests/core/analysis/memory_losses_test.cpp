#include "core/analysis/memory_losses.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/model/model.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Model compressive_model(double auto_encoding, double reconstruction) {
  ModelConfig config = testing::small_config({.layers = 3, .encoding = "none"});
  config.segment = 4;
  Choice choice{"compressive", default_values(variant("compressive").parameters)};
  choice.values.set("rate", Index{2});
  choice.values.set("function", std::string("convolution"));
  choice.values.set("memory", Index{3});
  choice.values.set("compressed", Index{2});
  choice.values.set("auto_encoding", auto_encoding);
  choice.values.set("attention_reconstruction", reconstruction);
  config.groups = uniform_groups(config, choice, default_encoding());
  return make_model(config, 3);
}

TEST(MemoryLosses, SumOverLayersAndSegmentsIsTheTotal) {
  const Model model = compressive_model(0.5, 2);
  IntTensor ids({1, 18});
  for (Index i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(7 * i * i % 256);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  const Output output = run(model, next_token_batch(ids), options);
  const std::vector<MemoryLoss> losses = memory_losses(trace);
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses[0].name, "attention_reconstruction");
  EXPECT_EQ(losses[0].weight, 2);
  EXPECT_EQ(losses[1].name, "auto_encoding");
  EXPECT_EQ(losses[1].weight, 0.5);
  for (const MemoryLoss& loss : losses) {
    EXPECT_EQ(loss.values.shape(), (Shape{3, 5}));
    double sum = 0;
    for (const float value : loss.values) sum += static_cast<double>(value);
    const auto total = std::ranges::find(output.losses, loss.name, &Loss::name);
    ASSERT_TRUE(total != output.losses.end());
    const auto expected = static_cast<double>(total->value.value()[0]);
    EXPECT_TRUE(std::abs(sum - expected) <= 1e-5 * expected) << loss.name << " " << sum;
    EXPECT_TRUE(sum > 0);
    for (Index layer = 0; layer < 3; ++layer) {
      // After the first segment of 4 rows, one row exceeds the memory of 3: no whole window.
      EXPECT_EQ(loss.values(layer, Index{0}), 0) << loss.name;
      double mean = 0;
      for (Index segment = 1; segment < 5; ++segment) {
        mean += static_cast<double>(loss.values(layer, segment)) / 4;
      }
      EXPECT_TRUE(std::abs(loss.mean(layer) - mean) <= 1e-6 * mean) << loss.name << " " << layer;
    }
  }
}

TEST(MemoryLosses, AreEmptyWithoutWeights) {
  const Model model = compressive_model(0, 0);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  run(model, next_token_batch(IntTensor::full({1, 9}, 3)), options);
  EXPECT_TRUE(memory_losses(trace).empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
