// What the reader of Transformer-XL takes from a folder and what it refuses (layouts_test.cpp
// compares what they compute), and the ingredients that it brought.
#include <gtest/gtest.h>

#include <cmath>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"
#include "tests/support/places.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

void copy_layout(const fs::path& to, const std::string& members) {
  const fs::path from = testing::source_folder() / "tests" / "layouts" / "transfo-xl";
  for (const auto& entry : fs::directory_iterator(from)) {
    fs::copy(entry.path(), to / entry.path().filename());
  }
  Json config = parse_json(read_file(to / "config.json", 1 << 20), "config.json");
  const Json other = parse_json(members, "members");
  for (const auto& [key, value] : other.items()) config[key] = value;
  write_file(to / "config.json", config.dump(2));
}

TEST(TransformerXl, RefusesWhatItLacksByName) {
  const auto names = [](const std::string& members, const std::string& named) {
    const testing::TemporaryFolder folder;
    copy_layout(folder.path(), members);
    const std::string error =
        testing::message_of<InputError>([&] { load_checkpoint(folder.path().string()); });
    EXPECT_NE(error.find(named), std::string::npos) << error;
  };
  names(R"({"attn_type": 1})", "attn_type");
  names(R"({"pre_lnorm": true})", "pre_lnorm");
  names(R"({"d_embed": 16})", "d_embed");
  names(R"({"cutoffs": [60, 20]})", "cutoffs");
  names(R"({"cutoffs": [20]})", "emb_layers");
  names(R"({"div_val": 100})", "narrowing");
}

TEST(TransformerXl, AsksForTheWordsThatAPickleHolds) {
  const testing::TemporaryFolder folder;
  copy_layout(folder.path(), "{}");
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
  Choice remembers{"segment_memory", default_values(variant("segment_memory").parameters)};
  remembers.values.set("reach", Index{3});
  Choice relative{"transformer_xl", default_values(encoding("transformer_xl").parameters)};
  relative.values.set("clamp", Index{2});
  config.groups = uniform_groups(config, remembers, relative);
  return config;
}

TEST(AdaptiveVocabulary, ComesBackFromJsonAndIsRefusedByName) {
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

Model lively(const ModelConfig& config) {
  Model model = make_model(config, 3);
  std::uint64_t seed = 40;
  for (auto& [name, weight] : model.weights) {
    Tensor values = testing::random_tensor(weight.shape(), ++seed, 0.5);
    if (name.ends_with("norm.weight")) {
      for (float& x : values) x += 1;
    }
    weight = Var::parameter(values);
  }
  return model;
}

TEST(AdaptiveVocabulary, GivesProbabilities) {
  const Tensor logits =
      forward(lively(adaptive_config(true)), IntTensor::from({1, 3}, {1, 5, 11}), {}).value();
  for (Index row = 0; row < 3; ++row) {
    double sum = 0;
    for (Index n = 0; n < 12; ++n) sum += std::exp(static_cast<double>(logits[row * 12 + n]));
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(AdaptiveVocabulary, HasTheGradientsOfFiniteDifferences) {
  for (const bool tied : {true, false}) {
    Model model = lively(adaptive_config(tied));
    const IntTensor ids = IntTensor::from({1, 4}, {1, 6, 10, 4});
    const IntTensor targets = IntTensor::from({1, 4}, {6, 10, 4, 2});
    const auto loss = [&] { return cross_entropy(forward(model, ids, {}), targets); };
    backward(loss());
    const auto loss_now = [&] { return static_cast<double>(loss().value()[0]); };
    for (auto& [name, weight] : model.weights) {
      EXPECT_TRUE(testing::is_gradient(weight.gradient(), weight.value(), loss_now,
                                       {{1e-2f, 3e-3f, 1e-3f}, 2e-2, 4}))
          << name;
    }
  }
}

}  // namespace
}  // namespace attnscope
