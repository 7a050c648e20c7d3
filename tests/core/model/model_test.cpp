#include "core/model/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/model/weights.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ModelConfig small_config() {
  ModelConfig config;
  config.vocabulary = 11;
  config.context = 16;
  config.width = 8;
  config.layers = 2;
  config.heads = config.kv_heads = 2;
  config.head_size = 4;
  config.hidden = 12;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  return config;
}

Choice encoding_choice(const std::string& id) {
  return {id, default_values(encoding(id).parameters)};
}

TEST(Model, IsDeterministicInTheSeed) {
  const Model a = make_model(small_config(), 3), b = make_model(small_config(), 3),
              c = make_model(small_config(), 4);
  const auto& wa = a.weights.find("layers.1.attn.wq")->second.value();
  const auto& wb = b.weights.find("layers.1.attn.wq")->second.value();
  const auto& wc = c.weights.find("layers.1.attn.wq")->second.value();
  EXPECT_TRUE(testing::close(wa, wb, 0));
  EXPECT_TRUE(testing::differs(wa, wc, 1e-3));
  const std::vector<WeightSpec> specs = weight_specs(a.config);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(a.weights.size()),
            std::ranges::count_if(specs, [](const WeightSpec& s) { return bool(s.initial); }));
}

TEST(Model, CountsItsParameters) {
  // embedding; per layer two norms, four square matrices and three 8 x 12 matrices; final norm
  EXPECT_EQ(parameter_count(small_config()), 11 * 8 + 2 * (8 + 4 * 64 + 8 + 3 * 96) + 8);
}

// The mean square of a sinusoid is 1/2, far above that of token vectors with the default deviation
// of 0.02.
TEST(Model, InitialisesTokenVectorsLargerForSinusoidalPositions) {
  const auto deviation = [](const std::string& id) {
    ModelConfig config = small_config();
    config.groups = uniform_groups(config, default_variant(), encoding_choice(id));
    double sum = 0;
    const Model model = make_model(config, 1);
    const Tensor& tokens = model.weights.find("embed.weight")->second.value();
    for (const float x : tokens) sum += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(sum / static_cast<double>(tokens.size()));
  };
  EXPECT_NEAR(deviation("sinusoidal"), 0.2, 0.05);
  EXPECT_NEAR(deviation("universal"), 0.2, 0.05);
  for (const char* id : {"learned", "rope", "none"}) EXPECT_NEAR(deviation(id), 0.02, 0.005) << id;
}

TEST(Model, SharesWeightsWithRegroupedModel) {
  const Model model = make_model(small_config(), 1);
  auto groups = model.config.groups;
  groups[1] = {HeadGroup{1, default_variant(), encoding_choice("rope")},
               HeadGroup{1, default_variant(), default_encoding()}};
  const Model regrouped = with_groups(model, groups, false);
  EXPECT_FALSE(regrouped.config.causal);
  EXPECT_TRUE(regrouped.untrained.empty());
  for (const auto& [name, weight] : model.weights) {
    EXPECT_EQ(regrouped.weights.find(name)->second.value().data(), weight.value().data()) << name;
  }
}

TEST(Model, RejectsIncompatibleGroups) {
  const Model model = make_model(small_config(), 1);
  auto groups = model.config.groups;
  groups[0][0].heads = 3;
  EXPECT_THROW(with_groups(model, groups, true), InputError);
}

TEST(Model, RejectsGroupsWithTooManyWeights) {
  Model model = make_model(small_config(), 1);
  model.config.context = Index{1} << 22;
  model.config.width = Index{1} << 16;  // as in a hostile config.json
  for (const Encoding& candidate : encodings()) {
    const Choice choice = encoding_choice(candidate.id);
    if (!refusal(default_variant(), choice, true, Dimensions{}, 0, 0).empty()) continue;
    try {
      with_groups(model, uniform_groups(model.config, default_variant(), choice), true);
    } catch (const InputError&) {
      continue;  // expected; std::bad_alloc or a crash would be an error
    }
  }
}

// Covers every registered encoding. Weights of a newly selected encoding are untrained.
TEST(Model, ListsUntrainedWeightsOfNewGroups) {
  const Model model = make_model(small_config(), 1);
  int encoding_count = 0;
  for (const Encoding& candidate : encodings()) {
    const Choice choice = encoding_choice(candidate.id);
    if (!refusal(default_variant(), choice, true, Dimensions{8, 2, 2, 4, 4, 16}, 0, 0).empty()) {
      continue;
    }
    const Model regrouped =
        with_groups(model, uniform_groups(model.config, default_variant(), choice), true);
    const std::size_t added = regrouped.weights.size() - model.weights.size();
    EXPECT_EQ(regrouped.untrained.size(), added) << candidate.id;
    if (added == 0) continue;
    ++encoding_count;
    // With the same encoding, the new weights remain untrained. With the previous encoding, they
    // are removed.
    EXPECT_EQ(with_groups(regrouped, regrouped.config.groups, true).untrained, regrouped.untrained);
    EXPECT_TRUE(with_groups(regrouped, model.config.groups, true).untrained.empty());
  }
  EXPECT_GT(encoding_count, 0);
}

struct MixedModel {
  ModelConfig config;
  Model model;
};

// Six heads that share two key-value heads, with weights far from their initial values.
MixedModel mixed_model(const Choice& variant, const Choice& encoding, bool causal = true) {
  ModelConfig config = small_config();
  config.heads = 6;
  config.kv_heads = 2;
  config.causal = causal;
  config.groups = uniform_groups(config, variant, encoding);
  Model model = make_model(config, 5);
  std::uint64_t seed = 5;
  for (auto& [name, weight] : model.weights) {
    const Tensor noise = testing::random_tensor(weight.shape(), ++seed, 0.3);
    Tensor values = weight.value().copy();
    for (Index i = 0; i < values.size(); ++i) values[i] += noise[i];
    weight = Var(values);
  }
  return {config, model};
}

std::vector<std::vector<HeadGroup>> split_groups(const ModelConfig& config,
                                                 const std::vector<Index>& heads) {
  auto groups = config.groups;
  for (auto& layer : groups) {
    const HeadGroup whole_group = layer[0];
    layer.clear();
    for (const Index count : heads)
      layer.push_back({count, whole_group.variant, whole_group.encoding});
  }
  return groups;
}

Tensor logits(const Model& model) {
  return forward(model, IntTensor::from({1, 8}, {3, 0, 10, 7, 7, 1, 5, 2})).value();
}

// Covers every variant with every encoding. If a head changes its group, all of its weights move
// with it.
TEST(Model, GivesSameResultForEqualGroupsAndOneGroup) {
  int case_count = 0;
  for (const Variant& v : variants()) {
    for (const Encoding& e : encodings()) {
      const Choice choice{v.id, default_values(v.parameters)};
      ModelConfig sizes = small_config();
      sizes.heads = 6;
      sizes.kv_heads = 2;
      sizes.causal = v.causality.refusal.empty();
      sizes.groups = uniform_groups(sizes, choice, encoding_choice(e.id));
      if (!refusal(choice, encoding_choice(e.id), sizes.causal,
                   group_dimensions(sizes, head_ranges(sizes, 0)[0]), 8, 8)
               .empty()) {
        continue;
      }
      SCOPED_TRACE(v.id + " " + e.id);
      // Trained weights move with their heads. Initial weights do not depend on the grouping.
      const Model trained =
          with_groups(mixed_model(choice, encoding_choice(e.id), sizes.causal).model, sizes.groups,
                      sizes.causal);
      const Model plain = mixed_model(default_variant(), default_encoding()).model;
      const Model untrained = with_groups(plain, sizes.groups, sizes.causal);
      Tensor expected, expected_untrained;
      try {
        expected = logits(trained);
        expected_untrained = logits(untrained);
      } catch (const InputError&) {
        continue;  // unsupported length
      }
      for (const std::vector<Index>& heads :
           {std::vector<Index>{3, 3}, {1, 2, 1, 1, 1}, {1, 1, 1, 1, 1, 1}}) {
        const Model separate = with_groups(trained, split_groups(sizes, heads), sizes.causal);
        EXPECT_TRUE(separate.untrained.empty());
        ASSERT_TRUE(testing::close(logits(separate), expected, 1e-5));
        const Model regrouped = with_groups(separate, sizes.groups, sizes.causal);
        EXPECT_TRUE(regrouped.untrained.empty());
        ASSERT_TRUE(testing::close(logits(regrouped), expected, 1e-6));
        const Model from_plain = with_groups(plain, split_groups(sizes, heads), sizes.causal);
        EXPECT_EQ(from_plain.untrained.empty(), untrained.untrained.empty());
        ASSERT_TRUE(testing::close(logits(from_plain), expected_untrained, 1e-5));
      }
      ++case_count;
    }
  }
  EXPECT_GT(case_count, 100);
}

TEST(Model, HeadWithNewVariantKeepsWeightsOfItsEncoding) {
  const auto [config, model] = mixed_model(default_variant(), encoding_choice("t5"));
  auto groups = split_groups(config, {2, 1, 3});
  groups[0][1].variant = {"local", default_values(variant("local").parameters)};
  groups[1][2].encoding = default_encoding();
  const Model regrouped = with_groups(model, groups, true);
  EXPECT_TRUE(regrouped.untrained.empty());
  const Tensor& stored_bias =
      model.weights.at("layers.0.groups.0.pos.bias").value();  // [buckets, 6]
  const Tensor& head_bias =
      regrouped.weights.at("layers.0.groups.1.pos.bias").value();  // [buckets, 1]
  ASSERT_EQ(head_bias.shape(), (Shape{stored_bias.dim(0), 1}));
  for (Index bucket = 0; bucket < stored_bias.dim(0); ++bucket) {
    EXPECT_EQ(head_bias(bucket, 0), stored_bias(bucket, 2)) << bucket;
  }
  EXPECT_FALSE(regrouped.weights.contains("layers.1.groups.2.pos.bias"));
}

TEST(Model, MarksOnlyNewHeadsOfAnEncodingAsUntrained) {
  auto [config, model] = mixed_model(default_variant(), encoding_choice("t5"));
  auto groups = split_groups(config, {3, 3});
  groups[0][1].encoding = groups[1][1].encoding = default_encoding();
  const Model half_encoded = with_groups(model, groups, true);
  const Model fully_encoded = with_groups(half_encoded, config.groups, true);
  EXPECT_EQ(fully_encoded.untrained,
            (std::vector<std::string>{"layers.0.groups.0.pos.bias", "layers.1.groups.0.pos.bias"}));
  const Tensor& old_bias = model.weights.at("layers.0.groups.0.pos.bias").value();
  const Tensor& new_bias = fully_encoded.weights.at("layers.0.groups.0.pos.bias").value();
  const Model plain = mixed_model(default_variant(), default_encoding()).model;
  const Model all_new = with_groups(plain, config.groups, true);
  const Tensor& illustrative = all_new.weights.at("layers.0.groups.0.pos.bias").value();
  for (Index bucket = 0; bucket < old_bias.dim(0); ++bucket) {
    for (Index head = 0; head < 6; ++head) {
      EXPECT_EQ(new_bias(bucket, head), (head < 3 ? old_bias : illustrative)(bucket, head))
          << bucket << head;
    }
  }
}

// Untrained weights have illustrative values. Training starts from initial values.
TEST(Model, GivesUntrainedWeightsIllustrativeValues) {
  const Model plain = mixed_model(default_variant(), default_encoding()).model;
  const auto illustrative = [&](const Choice& variant, const Choice& encoding, bool causal,
                                Index tokens, const char* name) {
    const auto groups = uniform_groups(plain.config, variant, encoding);
    const Model model = with_groups(plain, groups, causal, tokens);
    return model.weights.at(std::string("layers.0.groups.0.") + name).value();
  };
  const Tensor t5 =
      illustrative(default_variant(), encoding_choice("t5"), true, 0, "pos.bias");  // [buckets, h]
  EXPECT_EQ(t5(0, 0), 0);
  for (Index bucket = 1; bucket < t5.dim(0); ++bucket) {
    EXPECT_LT(t5(bucket, 0), t5(bucket - 1, 0)) << bucket;
    EXPECT_LT(t5(bucket, 0), t5(bucket, t5.dim(1) - 1)) << bucket;  // heads differ
  }
  Choice linformer{"linformer", default_values(variant("linformer").parameters)};
  linformer.values.set("k", Index{4});
  const Tensor pooling =
      illustrative(linformer, default_encoding(), false, 8, "lin.e");  // [k, context]
  for (Index row = 0; row < 4; ++row) {
    for (Index j = 0; j < 8; ++j) EXPECT_EQ(pooling(row, j), j / 2 == row ? 0.5f : 0.0f);
  }
  const Choice custom{"custom", {}};
  const Tensor mask = illustrative(custom, default_encoding(), true, 0, "pattern.mask");  // [L, L]
  EXPECT_EQ(mask(9, 8), 1);
  EXPECT_EQ(mask(9, 7), 1);
  EXPECT_EQ(mask(9, 6), 0);
  EXPECT_EQ(mask(9, 5), 1);

  ModelConfig config = plain.config;
  config.groups = uniform_groups(config, default_variant(), encoding_choice("t5"));
  const Model biased = make_model(config, 1);
  for (const float b : biased.weights.at("layers.0.groups.0.pos.bias").value()) EXPECT_EQ(b, 0);
}

TEST(Model, RequiresGroupsToMatchKeyValueHeads) {
  const auto [config, model] = mixed_model(default_variant(), default_encoding());
  EXPECT_NO_THROW(with_groups(model, split_groups(config, {1, 2, 3}), true));
  EXPECT_THROW(with_groups(model, split_groups(config, {2, 2, 2}), true), InputError);
  EXPECT_THROW(with_groups(model, split_groups(config, {4, 2}), true), InputError);
}

// Centroids and random features have no gradient; gates have a gradient.
TEST(WeightSpecs, MarkConstantWeights) {
  ModelConfig config = small_config();
  const auto is_constant = [&](const char* id, const std::string& name) {
    Choice choice{id, default_values(variant(id).parameters)};
    if (choice.values.has("gate")) choice.values.set("gate", true);
    config.groups = uniform_groups(config, choice, default_encoding());
    const std::vector<WeightSpec> specs = weight_specs(config);
    const auto spec = std::ranges::find(specs, "layers.0.groups.0." + name, &WeightSpec::name);
    EXPECT_NE(spec, specs.end()) << name;
    return spec != specs.end() && spec->constant;
  };
  EXPECT_TRUE(is_constant("routing", "routing.centroid"));
  EXPECT_TRUE(is_constant("lsh", "lsh.rotation"));
  EXPECT_TRUE(is_constant("rfa", "rfa.w"));
  EXPECT_TRUE(is_constant("graph", "graph.adjacency"));
  EXPECT_FALSE(is_constant("rfa", "rfa.gate.w"));
  EXPECT_FALSE(is_constant("memorizing", "memorizing.gate"));
}

Choice with_values(const char* id, std::initializer_list<std::pair<const char*, Index>> numbers) {
  Choice choice{id, default_values(variant(id).parameters)};
  for (const auto& [key, number] : numbers) choice.values.set(key, number);
  return choice;
}

TEST(FutureLeakNotes, ListVariantsThatLeakDespiteTheMask) {
  const auto notes = [](const Choice& choice, bool causal, bool centroids = false) {
    ModelConfig config = small_config();
    config.causal = causal;
    config.groups = uniform_groups(config, choice, default_encoding());
    Model model = make_model(config, 1);
    const Index heads = config.heads, size = config.head_size;
    for (Index layer = 0; centroids && layer < config.layers; ++layer) {
      model.weights["layers." + std::to_string(layer) + ".groups.0.routing.centroid"] =
          Var(testing::random_tensor({heads, 2, size}, 3));
    }
    return future_leak_notes(model);
  };
  const Choice routing = with_values("routing", {{"clusters", 2}});
  const Choice chunks = with_values("lsh", {{"buckets", 4}, {"rounds", 1}, {"chunk", 2}});
  const Choice whole = with_values("lsh", {{"buckets", 4}, {"rounds", 1}});
  ASSERT_EQ(notes(routing, true).size(), 1u);  // one note for all layers
  EXPECT_TRUE(notes(routing, true)[0].starts_with("Routing leaks future tokens: "));
  EXPECT_TRUE(notes(routing, true, true).empty());
  EXPECT_TRUE(notes(routing, false).empty());  // without a mask, leaks are expected
  ASSERT_EQ(notes(chunks, true).size(), 1u);
  EXPECT_TRUE(notes(chunks, true)[0].starts_with("LSH (Reformer) leaks future tokens: "))
      << notes(chunks, true)[0];
  EXPECT_TRUE(notes(whole, true).empty());
  EXPECT_TRUE(notes(default_variant(), true).empty());
}

// Trained weights per position cannot be extended. Untrained weights are created again.
TEST(Model, ExtendsContextUnlessTrainedWeightsDependOnIt) {
  ModelConfig config = testing::small_config({.context = 8, .encoding = "rope"});
  const Model rotary_model = with_context(make_model(config, 1), 40);
  EXPECT_EQ(rotary_model.config.context, 40);
  EXPECT_EQ(forward(rotary_model, IntTensor::full({1, 40}, 3)).dim(1), 40);
  config = testing::small_config({.context = 8, .encoding = "learned"});
  Model learned_model = make_model(config, 1);
  const std::string table = "embed.pos.embedding";
  ASSERT_EQ(learned_model.weights.at(table).dim(0), 8);
  EXPECT_EQ(with_context(learned_model, 8).weights.at(table).value().data(),
            learned_model.weights.at(table).value().data());
  try {
    with_context(learned_model, 9);
    ADD_FAILURE() << "accepted 9 tokens with 8 trained position vectors";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("(learned) of this model has shape"), std::string::npos)
        << e.what();
  }
  learned_model.untrained = {"another"};
  EXPECT_THROW(with_context(learned_model, 9), InputError);
  learned_model.untrained.push_back(table);
  const Model extended_model = with_context(learned_model, 9);
  EXPECT_EQ(extended_model.weights.at(table).dim(0), 9);
  EXPECT_EQ(extended_model.weights.size(), learned_model.weights.size());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
