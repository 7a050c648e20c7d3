// Transformer-XL reader: metadata, errors and the ingredients specific to Transformer-XL.
// layouts_test.cpp compares the computed numbers.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "tests/core/checkpoint/small_models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(TransformerXl, RejectsUnsupportedSettingsByName) {
  const auto expect_error = [](const char* members, const char* named) {
    testing::expect_input_error("transfo-xl", members, named);
  };
  expect_error(R"({"attn_type": 1})", "attn_type");
  expect_error(R"({"pre_lnorm": true})", "pre_lnorm");
  expect_error(R"({"d_embed": 16})", "emb_layers");  // the stored tables have another width
  expect_error(R"({"cutoffs": [60, 20]})", "cutoffs");
  expect_error(R"({"cutoffs": [20]})", "emb_layers");
  expect_error(R"({"div_val": 100})", "narrowing");
}

TEST(TransformerXl, SuggestsCommandToConvertPickledVocabulary) {
  const testing::TemporaryFolder folder;
  testing::copy_layout("transfo-xl", folder.path(), "{}");
  write_file(folder.path() / "vocab.pkl", "");
  const Checkpoint checkpoint = load_checkpoint(folder.path().string());
  EXPECT_EQ(checkpoint.tokenizer, nullptr);
  EXPECT_NE(checkpoint.tokenizer_problem.find("python3 -c"), std::string::npos);
}

ModelConfig adaptive_config(bool tied) {
  ModelConfig config;
  config.vocabulary = 12;
  config.context = 16;
  config.width = 8;
  config.layers = 1;
  config.heads = config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 6;
  config.gated = false;
  config.pre_norm = false;
  config.tied_output = tied;
  config.head.bias = true;
  config.embedding.adaptive = {{4, 9}, 2};
  config.segment = 4;
  Choice segment_memory{"segment_memory", default_values(variant("segment_memory").parameters)};
  segment_memory.values.set("reach", Index{3});
  Choice relative{"transformer_xl", default_values(encoding("transformer_xl").parameters)};
  relative.values.set("clamp", Index{2});
  config.groups = uniform_groups(config, segment_memory, relative);
  return config;
}

TEST(AdaptiveVocabulary, RoundTripsAndRejectsInvalidValues) {
  const ModelConfig config = adaptive_config(true);
  EXPECT_EQ(model_config_from_json(to_json(config), "config.json"), config);
  const auto refusal = [&](const AdaptiveVocabulary& adaptive) {
    ModelConfig changed = config;
    changed.embedding.adaptive = adaptive;
    return testing::message_of<InputError>([&] { check(changed, "config.json"); });
  };
  EXPECT_NE(refusal({{}, 2}).find("embedding.narrowing"), std::string::npos);
  EXPECT_NE(refusal({{9, 4}, 2}).find("embedding.cutoffs"), std::string::npos);
  EXPECT_NE(refusal({{4, 12}, 2}).find("embedding.cutoffs"), std::string::npos);
  EXPECT_NE(refusal({{4, 9}, 4}).find("embedding.narrowing"), std::string::npos);
}

TEST(AdaptiveVocabulary, YieldsProbabilities) {
  const Tensor logits = forward(testing::make_random_model(adaptive_config(true)),
                                IntTensor::from({1, 3}, {1, 5, 11}))
                            .value();
  for (Index row = 0; row < 3; ++row) {
    double sum = 0;
    for (Index n = 0; n < 12; ++n) sum += std::exp(static_cast<double>(logits[row * 12 + n]));
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(AdaptiveVocabulary, GradientsMatchFiniteDifferences) {
  for (const bool tied : {true, false}) {
    for (const Index width : {0, 6}) {  // width of the first cluster's table
      ModelConfig config = adaptive_config(tied);
      config.embedding.width = width;
      check(config, "config.json");
      Model model = testing::make_random_model(config);
      testing::expect_gradients(model, IntTensor::from({1, 4}, {1, 6, 10, 4}),
                                IntTensor::from({1, 4}, {6, 10, 4, 2}));
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
