#include "core/model/memory.h"

#include <gtest/gtest.h>

#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Compares max_keys() with the keys of the widest segment of a long text.
TEST(MaxKeys, CoverSegmentAndMemory) {
  const ModelConfig base_config = testing::small_config({});
  EXPECT_EQ(max_keys(base_config, 1000), 1000);
  for (const char* id : {"segment_memory", "compressive", "memorizing", "full"}) {
    for (const Index memory : {-1, 5}) {
      ModelConfig config = base_config;
      config.segment = 4;
      Choice choice{id, default_values(variant(id).parameters)};
      const auto& parameters = variant(id).parameters;
      const bool has_memory = std::ranges::any_of(
          parameters, [](const Parameter& parameter) { return parameter.key == "memory"; });
      if (memory > 0 && has_memory) choice.values.set("memory", memory);
      config.groups = uniform_groups(config, choice, default_encoding());
      Trace trace;
      ForwardOptions options;
      options.trace = &trace;
      forward(make_model(config, 1), IntTensor::full({1, 200}, 7), options);
      Index max_tap_keys = 0;
      for (const AttentionTap& tap : trace.attention)
        max_tap_keys = std::max(max_tap_keys, tap.keys());
      constexpr Index kWindow = 4;  // compressive memory keeps rows until they fill a window
      EXPECT_LT(max_tap_keys, max_keys(config, 200) + kWindow) << id;
      EXPECT_LE(max_keys(config, 200), 13) << id;
      EXPECT_TRUE(std::string(id) != "segment_memory" || max_tap_keys == (memory > 0 ? 9 : 8));
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
