// Tests interventions in the forward pass for all variants.
#include "core/trace/intervention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/model/intervention_backend.h"
#include "core/model/model.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ModelConfig config_with(const Choice& variant, bool causal) {
  ModelConfig config;
  config.vocabulary = 13;
  config.context = 16;
  config.width = 16;
  config.layers = 2;
  config.heads = config.kv_heads = 4;
  config.head_size = 4;
  config.hidden = 20;
  config.causal = causal;
  config.groups = uniform_groups(config, variant, default_encoding());
  return config;
}

Model make_random_model(const ModelConfig& config) {
  Model model = make_model(config, 5);
  std::uint64_t seed = 9;
  for (auto& [name, weight] : model.weights) {
    if (name.find("norm") == std::string::npos && name.find("groups") == std::string::npos) {
      weight = Var(testing::random_tensor(weight.shape(), ++seed, 0.4));
    }
  }
  return model;
}

IntTensor make_ids() {
  IntTensor ids({1, 16});
  for (Index i = 0; i < 16; ++i) ids[i] = static_cast<std::int32_t>((7 * i + 3) % 13);
  return ids;
}

Trace run(const Model& model, const Interventions& interventions) {
  Trace trace;
  ForwardOptions options;
  options.trace = &trace;
  options.interventions = &interventions;
  forward(model, make_ids(), options);
  return trace;
}

Interventions parse_all(const std::vector<std::string>& texts) {
  Interventions result;
  for (const std::string& text : texts) result.push_back(intervention_from_text(text));
  return result;
}

TEST(Interventions, DisabledHeadEqualsZeroRowsOfOutputProjection) {
  const Model model = make_random_model(config_with(default_variant(), true));
  Model zeroed_model = model;
  for (const auto& [layer, head] : {std::pair<Index, Index>{0, 2}, {1, 0}, {1, 3}}) {
    const std::string name = "layers." + std::to_string(layer) + ".attn.wo";
    Tensor wo = zeroed_model.weights.at(name).value().copy();  // [h d_k, d]
    std::fill_n(wo.data() + head * 4 * wo.dim(1), 4 * wo.dim(1), 0.0f);
    zeroed_model.weights[name] = Var(wo);
  }
  const Trace disabled_trace =
      run(model, parse_all({"off layer=0 head=2", "off layer=1 head=0", "off layer=1 head=3"}));
  EXPECT_TRUE(testing::close(disabled_trace.logits, run(zeroed_model, {}).logits, 1e-6));
  EXPECT_TRUE(testing::differs(disabled_trace.logits, run(model, {}).logits, 1e-3));
}

// Head numbers count all heads of a layer across its head groups.
TEST(Interventions, DisabledHeadLeavesOtherGroupUnchanged) {
  ModelConfig config = config_with(default_variant(), true);
  HeadGroup first = config.groups.front().front();
  HeadGroup second = first;
  first.heads = 3;
  second.heads = 1;
  for (std::vector<HeadGroup>& layer : config.groups) layer = {first, second};
  const Model model = make_random_model(config);
  Model zeroed_model = model;
  Tensor wo = zeroed_model.weights.at("layers.1.attn.wo").value().copy();  // [h d_k, d]
  std::fill_n(wo.data() + 3 * 4 * wo.dim(1), 4 * wo.dim(1), 0.0f);
  zeroed_model.weights["layers.1.attn.wo"] = Var(wo);
  const Trace disabled_trace = run(model, parse_all({"off layer=1 head=3"}));
  EXPECT_TRUE(testing::close(disabled_trace.logits, run(zeroed_model, {}).logits, 1e-6));
}

TEST(Interventions, DisabledLayerPassesItsInputThrough) {
  const Model model = make_random_model(config_with(default_variant(), true));
  const Trace disabled_trace = run(model, parse_all({"off layer=0"}));
  EXPECT_TRUE(testing::close(disabled_trace.taps.at("layers.0.residual"),
                             disabled_trace.taps.at("embed"), 0));
  EXPECT_EQ(disabled_trace.layer_count({}), 2);  // its attention can still be inspected
  // The result equals a model that consists of the other layer only.
  ModelConfig one_layer = config_with(default_variant(), true);
  one_layer.layers = 1;
  one_layer.groups.resize(1);
  Model one_layer_model = make_model(one_layer, 1);
  for (auto& [name, weight] : one_layer_model.weights) {
    std::string source = name;
    if (source.starts_with("layers.0.")) source.replace(7, 1, "1");
    weight = model.weights.at(source);
  }
  EXPECT_TRUE(testing::close(disabled_trace.logits, run(one_layer_model, {}).logits, 1e-6));
}

// Expects softmax rows to sum to 1, or to 0 if all of their pairs are forbidden.
void expect_rows_sum_to_one(const AttentionTap& tap, const std::string& name) {
  const bool is_softmax = tap.part() && tap.part()->normaliser == Normaliser::Softmax;
  if (!is_softmax) return;
  for (Index a = 0; a < static_cast<Index>(tap.heads.size()); ++a) {
    const Tensor weights = tap.attention(a);
    const Index row_head = tap.result.pattern->heads() == 1 ? 0 : a;
    for (Index i = 0; i < weights.dim(0); ++i) {
      double sum = 0;
      for (Index c = 0; c < weights.dim(1); ++c) sum += static_cast<double>(weights(i, c));
      const double expected = tap.result.pattern->row_size(row_head, i) > 0 ? 1 : 0;
      EXPECT_NEAR(sum, expected, 1e-5) << name << " head " << a << " row " << i;
    }
  }
}

TEST(Interventions, ForbiddenPairsHaveNoWeightInEveryVariant) {
  int supported_count = 0, refused_count = 0;
  for (const Variant& v : variants()) {
    Values values = default_values(v.parameters);
    if (values.has("height")) {
      values.set("width", Index{4});
      values.set("height", Index{4});
    }
    const Choice choice{v.id, values};
    const bool causal = v.causality.refusal.empty();
    Model model;
    try {
      model = make_random_model(config_with(choice, causal));
      run(model, {});
    } catch (const InputError&) {
      continue;  // the variant requires input that a language model lacks
    }
    try {
      const Trace trace = run(model, parse_all({"forbid key=2", "forbid query=9 key=9 layer=0"}));
      ++supported_count;
      for (const AttentionTap& tap : trace.attention) {
        for (Index a = 0; a < 4; ++a) {
          const Tensor weights = tap.attention(a);
          for (Index i = 0; i < 16; ++i) EXPECT_EQ(weights(i, 2), 0) << v.id << " row " << i;
          if (tap.address.layer > 0) continue;
          EXPECT_EQ(weights(9, 9), 0) << v.id;
        }
        expect_rows_sum_to_one(tap, v.id);
      }
      for (const float x : trace.logits.value()) ASSERT_TRUE(std::isfinite(x)) << v.id;
    } catch (const InputError& e) {
      ++refused_count;
      EXPECT_NE(std::string(e.what()).find("intervene: expected a variant"), std::string::npos)
          << v.id << ": " << e.what();
    }
  }
  EXPECT_GE(supported_count, 18);
  EXPECT_GE(refused_count, 1);  // variants whose keys are not tokens
}

TEST(Interventions, ForcedColumnHasAllTheWeight) {
  const Model model = make_random_model(config_with(default_variant(), true));
  const Trace trace =
      run(model, parse_all({"force key=3 layer=1 head=2", "force query=7 key=5 layer=0"}));
  const Tensor forced_head = trace.attention[1].attention(2);
  for (Index i = 0; i < 16; ++i) EXPECT_EQ(forced_head(i, 3), i >= 3 ? 1 : 0) << i;
  const Tensor other_head = trace.attention[1].attention(1);
  EXPECT_LT(other_head(10, 3), 1);
  for (Index a = 0; a < 4; ++a) EXPECT_EQ(trace.attention[0].attention(a)(7, 5), 1);
  expect_rows_sum_to_one(trace.attention[1], "forced");
  EXPECT_THROW(run(model, parse_all({"force query=3 key=5"})), InputError);
}

TEST(Interventions, ForbiddenPairsChangeNothingElseInTheirLayer) {
  const Model model = make_random_model(config_with(default_variant(), true));
  const Trace old_trace = run(model, {}),
              new_trace = run(model, parse_all({"forbid query=8 key=4 layer=0 head=1"}));
  for (const Index head : {0, 2, 3}) {
    EXPECT_TRUE(testing::close(new_trace.attention[0].attention(head),
                               old_trace.attention[0].attention(head), 1e-7));
  }
  const Tensor a = old_trace.attention[0].attention(1), b = new_trace.attention[0].attention(1);
  for (Index c = 0; c <= 8; ++c) {
    // The pair's weight is distributed over the rest of the row.
    const double expected =
        c == 4 ? 0 : static_cast<double>(a(8, c)) / (1 - static_cast<double>(a(8, 4)));
    EXPECT_NEAR(static_cast<double>(b(8, c)), expected, 1e-5) << c;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
