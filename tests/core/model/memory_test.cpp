#include "core/model/memory.h"

#include <gtest/gtest.h>

#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Compares with the number of keys in the widest segment of a long text.
TEST(MaxKeys, CoverSegmentAndMemory) {
  const ModelConfig plain = testing::small_config({});
  EXPECT_EQ(max_keys(plain, 1000), 1000);
  for (const char* id : {"segment_memory", "compressive", "memorizing", "full"}) {
    for (const Index memory : {-1, 5}) {
      ModelConfig config = plain;
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
      Index widest = 0;
      for (const AttentionTap& tap : trace.attention) widest = std::max(widest, tap.keys());
      constexpr Index kWindow = 4;  // compressive: rows that do not fill a window yet
      EXPECT_LT(widest, max_keys(config, 200) + kWindow) << id;
      EXPECT_LE(max_keys(config, 200), 13) << id;
      EXPECT_TRUE(std::string(id) != "segment_memory" || widest == (memory > 0 ? 9 : 8));
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
