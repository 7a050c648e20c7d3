// MPT reader: ALiBi slopes and rejected settings.
#include <gtest/gtest.h>

#include <vector>

#include "tests/core/checkpoint/small_models.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::vector<double> slopes_with(const std::string& members) {
  const ModelConfig config = testing::changed_layout("mpt", members).model.config;
  return config.groups[0][0].encoding.values.get<std::vector<double>>("slopes");
}

// Three heads have the second and fourth of the slopes for four heads, then the first.
TEST(Mpt, ComputesSlopes) {
  EXPECT_EQ(slopes_with(R"({"attn_config": {"alibi_bias_max": 4}})"),
            (std::vector<double>{1. / 4, 1. / 16, 1. / 2}));
  EXPECT_EQ(slopes_with(R"({"n_heads": 4, "attn_config": {"alibi_bias_max": 4}})"),
            (std::vector<double>{1. / 2, 1. / 4, 1. / 8, 1. / 16}));
  EXPECT_EQ(testing::changed_layout("mpt", R"({"attn_config": null})").model.config.groups,
            testing::changed_layout("mpt", "{}").model.config.groups);
}

TEST(Mpt, ReadsScaleOfScores) {
  const Checkpoint mpt = testing::changed_layout("mpt", R"({"attn_config": {"softmax_scale": 2}})");
  EXPECT_EQ(mpt.model.config.model_options.attention_scale, 2);
}

TEST(Mpt, RejectsUnsupportedSettings) {
  testing::expect_input_error("mpt", R"({"attn_config": {"clip_qkv": 8}})", "clip_qkv");
  testing::expect_input_error("mpt", R"({"attn_config": {"alibi": false}})", "alibi");
  testing::expect_input_error("mpt", R"({"attn_config": {"qk_ln": true}})", "qk_ln");
  testing::expect_input_error("mpt", R"({"attn_config": 3})", "attn_config");
  testing::expect_input_error("mpt", R"({"logit_scale": 2})", "logit_scale");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
