// Tests JSON, validation, training and cached decoding with options of published models.
#include "core/model/model_options.h"

#include <gtest/gtest.h>

#include "core/autodiff/operations_reduce.h"
#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/generate.h"
#include "core/model/model.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/gradient.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ModelConfig base_config() {
  ModelConfig config;
  config.vocabulary = 13;
  config.context = 16;
  config.width = 12;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 10;
  const Choice rope{"rope", default_values(encoding("rope").parameters)};
  config.groups = uniform_groups(config, default_variant(), rope);
  return config;
}

// Combines as many compatible options as possible. config_with_other_options() has most of the
// remaining options.
ModelConfig config_with_many_options() {
  ModelConfig config = base_config();
  ModelOptions& options = config.model_options;
  options.embedding_scale = 3;
  options.output_norm = OutputNorm::Also;
  options.attention_output_bias = true;
  options.query_key_norm = QueryKeyNorm::Head;
  options.attention_scale = 0.8;
  options.score_cap = 2;
  options.attention_sinks = true;
  options.residual_scale = 0.7;
  options.experts = {.count = 3, .chosen = 2, .renormalised = true, .router_bias = true};
  options.gate_limit = 1.2;
  options.gate_offset = 1;
  options.logit_scale = 0.5;
  options.logit_cap = 4;
  config.activation = Activation::QuickGelu;
  return config;
}

ModelConfig config_with_other_options() {
  ModelConfig config = base_config();
  config.norm = Norm::LayerNorm;
  config.activation = Activation::SquaredRelu;
  ModelOptions& options = config.model_options;
  options.norm_biases = false;
  options.parallel = options.shared_norm = true;
  options.query_key_norm = QueryKeyNorm::Projection;
  options.experts = {.count = 4,
                     .chosen = 2,
                     .renormalised = false,
                     .router_bias = false,
                     .shared_hidden = 5,
                     .dense_layers = {1},
                     .dense_hidden = 7};
  return config;
}

ModelConfig config_with_output_norm_instead() {
  ModelConfig config = base_config();
  config.model_options.output_norm = OutputNorm::Instead;
  config.model_options.query_key_norm = QueryKeyNorm::Projection;
  return config;
}

const std::vector<ModelConfig>& all_configs() {
  static const std::vector<ModelConfig> configs{
      config_with_many_options(), config_with_other_options(), config_with_output_norm_instead()};
  return configs;
}

Model make_random_model(const ModelConfig& config, std::uint64_t seed) {
  Model model = make_model(config, seed);
  for (auto& [name, weight] : model.weights) {
    Tensor values = testing::random_tensor(weight.shape(), ++seed, 0.5);
    if (name.ends_with("norm.weight")) {
      for (float& x : values) x += 1;
    }
    weight = Var(values);
  }
  return model;
}

TEST(ModelOptions, RoundTripThroughJson) {
  for (const ModelConfig& config : all_configs()) {
    EXPECT_EQ(model_config_from_json(to_json(config), "config.json"), config);
  }
  ModelConfig without_head = base_config();
  without_head.model_options.output_head = false;
  EXPECT_EQ(model_config_from_json(to_json(without_head), "config.json"), without_head);
  const Json defaults = to_json(base_config());
  for (const char* key : {"output_norm", "parallel", "experts", "score_cap", "output_head"}) {
    EXPECT_FALSE(defaults.contains(key)) << key;
  }
}

TEST(ModelOptions, GradientsMatchFiniteDifferences) {
  for (const ModelConfig& config : all_configs()) {
    Model model = make_random_model(config, 21);
    for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
    const IntTensor ids = IntTensor::from({2, 5}, {1, 2, 3, 4, 9, 5, 6, 7, 0, 8});
    const IntTensor targets = IntTensor::from({2, 5}, {2, 3, 4, 5, 1, 6, 7, 0, 1, 12});
    const auto loss = [&] { return cross_entropy(forward(model, ids), targets); };
    backward(loss());
    const auto loss_value = [&] { return static_cast<double>(loss().value()[0]); };
    const testing::Differences settings{{1e-2f, 3e-3f, 1e-3f}, 2e-2, 4};
    for (auto& [name, weight] : model.weights) {
      if (name.find(".router") != std::string::npos)
        continue;  // a step may change the selected experts
      EXPECT_TRUE(testing::is_gradient(weight.gradient(), weight.value(), loss_value, settings))
          << name;
    }
  }
}

// With all experts chosen, the selection cannot change and the router has an exact gradient.
TEST(ModelOptions, TrainRouters) {
  for (const bool renormalised : {true, false}) {
    ModelConfig config = base_config();
    config.model_options.experts = {.count = 3, .chosen = 3, .renormalised = renormalised};
    Model model = make_random_model(config, 5);
    for (auto& [name, weight] : model.weights) weight = Var::parameter(weight.value());
    const IntTensor ids = IntTensor::from({1, 5}, {1, 2, 3, 4, 9});
    const IntTensor targets = IntTensor::from({1, 5}, {2, 3, 4, 9, 1});
    const auto loss = [&] { return cross_entropy(forward(model, ids), targets); };
    backward(loss());
    const auto loss_value = [&] { return static_cast<double>(loss().value()[0]); };
    const Var& router = model.weights.find("layers.0.ffn.router")->second;
    EXPECT_TRUE(testing::is_gradient(router.gradient(), router.value(), loss_value,
                                     {{1e-2f, 3e-3f}, 1e-2, 6}));
  }
}

TEST(ModelOptions, GiveSameLogitsWithCache) {
  for (const ModelConfig& config : all_configs()) {
    const Model model = make_random_model(config, 8);
    const std::vector<std::int32_t> ids{1, 5, 3, 12, 0, 7, 7, 2};
    Generator generator(model, {});
    Tensor last_logits;
    for (const std::int32_t id : ids) last_logits = generator.step({id});
    const Tensor whole_pass = forward(model, IntTensor::from({1, 8}, ids)).value();
    EXPECT_TRUE(
        testing::close(last_logits, whole_pass.reshaped({8, 13}).slice(7, 1).reshaped({13})));
  }
}

TEST(ModelOptions, RecordGatesThatSumToOne) {
  const Model model = make_random_model(config_with_many_options(), 3);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  forward(model, IntTensor::from({1, 4}, {1, 2, 3, 4}), options);
  Index tap_count = 0;
  for (const Located<Tensor>& tap : trace.located) {
    if (tap.name != "gate.experts") continue;
    ++tap_count;
    ASSERT_EQ(tap.values.shape(), (Shape{4, 3}));
    for (Index row = 0; row < 4; ++row) {
      double sum = 0;
      Index chosen_count = 0;
      for (Index e = 0; e < 3; ++e) {
        sum += static_cast<double>(tap.values(row, e));
        chosen_count += tap.values(row, e) > 0 ? 1 : 0;
      }
      EXPECT_NEAR(sum, 1, 1e-5);
      EXPECT_EQ(chosen_count, 2);
    }
  }
  EXPECT_EQ(tap_count, 2);
}

// The output of the shared expert is scaled by a sigmoid gate, independently of the router.
TEST(ModelOptions, AddGatedSharedExpert) {
  ModelConfig config = base_config();
  config.model_options.experts = {.count = 3, .chosen = 1, .shared_hidden = 5};
  Model model = make_random_model(config, 4);
  for (auto& [name, weight] : model.weights) {  // the router's experts compute 0
    if (name.find(".experts.") != std::string::npos) weight = Var(Tensor::zeros(weight.shape()));
    if (name.ends_with("shared_gate")) weight = Var(Tensor::zeros(weight.shape()));
  }
  ModelConfig single_config = base_config();
  single_config.hidden = 5;
  Model single = make_random_model(single_config, 4);
  for (auto& [name, weight] : single.weights) {
    std::string shared = name;
    const std::size_t ffn = name.find(".ffn.");
    if (ffn != std::string::npos) shared.insert(ffn + 5, "shared.");
    weight = model.weights.at(shared);
    if (name.ends_with("ffn.w_out")) {  // sigmoid(0) = 1/2
      Tensor half = weight.value().copy();
      for (float& x : half) x /= 2;
      weight = Var(half);
    }
  }
  const IntTensor ids = IntTensor::from({1, 5}, {1, 2, 3, 4, 9});
  EXPECT_TRUE(testing::close(forward(model, ids).value(), forward(single, ids).value(), 1e-6));
}

TEST(ModelOptions, RecordExpertGatesOnlyOfLayersWithExperts) {
  const Model model = make_random_model(config_with_other_options(), 3);
  EXPECT_TRUE(model.weights.contains("layers.0.ffn.router"));
  EXPECT_FALSE(model.weights.contains("layers.1.ffn.router"));
  EXPECT_EQ(model.weights.at("layers.0.ffn.shared.w_in").shape(), (Shape{12, 5}));
  EXPECT_EQ(model.weights.at("layers.0.ffn.shared_gate").shape(), (Shape{12, 1}));
  EXPECT_EQ(model.weights.at("layers.1.ffn.w_in").shape(), (Shape{12, 7}));
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  forward(model, IntTensor::from({1, 4}, {1, 2, 3, 4}), options);
  std::vector<Index> layers;
  for (const Located<Tensor>& tap : trace.located) {
    if (tap.name == "gate.experts") layers.push_back(tap.address.layer);
  }
  EXPECT_EQ(layers, std::vector<Index>{0});
}

TEST(ModelOptions, GiveStatesButNoPredictionsIfHeadIsDisabled) {
  ModelConfig config = base_config();
  config.model_options.output_head = false;
  const Model model = make_random_model(config, 3);
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  Batch batch;
  batch.ids = IntTensor::from({1, 4}, {1, 2, 3, 4});
  EXPECT_FALSE(run(model, batch, options).logits.defined());
  EXPECT_EQ(trace.attention.size(), 2U);
  EXPECT_TRUE(trace.taps.contains("final"));
  EXPECT_FALSE(trace.logits.defined());
  Generator generator(model, {});
  EXPECT_THROW(generator.step({1}), InputError);
}

std::string refusal_of(const std::function<void(ModelConfig&)>& change) {
  ModelConfig config = base_config();
  change(config);
  try {
    check(config, "config.json");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ModelOptions, RejectIncompatibleCombinations) {
  const auto expect_refusal = [](const std::string& expected,
                                 const std::function<void(ModelConfig&)>& change) {
    const std::string error = refusal_of(change);
    EXPECT_NE(error.find(expected), std::string::npos) << error;
  };
  expect_refusal("output_norm", [](ModelConfig& c) {
    c.pre_norm = false;
    c.model_options.output_norm = OutputNorm::Also;
  });
  expect_refusal("shared_norm", [](ModelConfig& c) { c.model_options.shared_norm = true; });
  expect_refusal("parallel", [](ModelConfig& c) {
    c.model_options.parallel = true;
    c.hidden = 0;
  });
  expect_refusal("norm_biases", [](ModelConfig& c) { c.model_options.norm_biases = false; });
  expect_refusal("experts.chosen",
                 [](ModelConfig& c) { c.model_options.experts = {.count = 2, .chosen = 3}; });
  for (const std::vector<Index>& layers :
       {std::vector<Index>{2}, std::vector<Index>{-1}, std::vector<Index>{1, 0}}) {
    expect_refusal("experts.dense_layers", [&](ModelConfig& c) {
      c.model_options.experts = {.count = 2, .dense_layers = layers, .dense_hidden = 3};
    });
  }
  expect_refusal("one stack of layers, found encoder_decoder", [](ModelConfig& c) {
    c.architecture = {"encoder_decoder",
                      default_values(architecture("encoder_decoder").parameters)};
    c.architecture.values.set("encoder_layers", Index{2});
    c.architecture.values.set("start", Index{1});
    c.model_options.experts = {.count = 2, .dense_layers = {0}, .dense_hidden = 3};
  });
  expect_refusal("gate_limit", [](ModelConfig& c) {
    c.gated = false;
    c.model_options.gate_limit = 1;
  });
  expect_refusal("score_cap", [](ModelConfig& c) {
    c.model_options.score_cap = 1;
    const Choice linear{"linear", default_values(variant("linear").parameters)};
    c.groups = uniform_groups(c, linear, default_encoding());
  });
  expect_refusal("architecture.encoder_variant", [](ModelConfig& c) {
    c.architecture = {"encoder_decoder",
                      default_values(architecture("encoder_decoder").parameters)};
    c.model_options.score_cap = 1;
    c.encoder_variant = Choice{"linear", default_values(variant("linear").parameters)};
  });
  expect_refusal("original", [](ModelConfig& c) {
    for (auto& layer : c.groups) {
      layer[0].encoding.values.set("scaling", std::string("llama3"));
    }
  });
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
