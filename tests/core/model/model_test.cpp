#include "core/model/model.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

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

TEST(Model, IsTheSameForTheSameSeed) {
  const Model a = make_model(small_config(), 3), b = make_model(small_config(), 3),
              c = make_model(small_config(), 4);
  const auto& wa = a.weights.find("layers.1.attn.wq")->second.value();
  const auto& wb = b.weights.find("layers.1.attn.wq")->second.value();
  const auto& wc = c.weights.find("layers.1.attn.wq")->second.value();
  EXPECT_TRUE(std::equal(wa.begin(), wa.end(), wb.begin()));
  EXPECT_FALSE(std::equal(wa.begin(), wa.end(), wc.begin()));
  EXPECT_EQ(a.weights.size(), weight_specs(a.config).size());
}

TEST(Model, CountsItsParameters) {
  // embedding, per layer two norms, four square matrices and three of 8 x 12, a last norm
  EXPECT_EQ(parameter_count(small_config()), 11 * 8 + 2 * (8 + 4 * 64 + 8 + 3 * 96) + 8);
}

TEST(Model, WithGroupsSharesWeights) {
  const Model model = make_model(small_config(), 1);
  auto groups = model.config.groups;
  groups[1] = {HeadGroup{1, default_variant(), encoding_choice("rope")},
               HeadGroup{1, default_variant(), default_encoding()}};
  const Model other = with_groups(model, groups, false);
  EXPECT_FALSE(other.config.causal);
  EXPECT_TRUE(other.untrained.empty());
  for (const auto& [name, weight] : model.weights) {
    EXPECT_EQ(other.weights.find(name)->second.value().data(), weight.value().data()) << name;
  }
}

TEST(Model, WithGroupsRefusesWhatCannotWork) {
  const Model model = make_model(small_config(), 1);
  auto groups = model.config.groups;
  groups[0][0].heads = 3;
  EXPECT_THROW(with_groups(model, groups, true), InputError);
}

TEST(Model, WithGroupsRefusesMoreWeightsThanAMemoryHolds) {
  Model model = make_model(small_config(), 1);
  model.config.context = Index{1} << 22;
  model.config.width = Index{1} << 16;  // as a hostile config.json may say
  for (const Encoding& candidate : encodings()) {
    const Choice choice = encoding_choice(candidate.id);
    if (!refusal(default_variant(), choice, true, Dimensions{}, 0, 0).empty()) continue;
    try {
      with_groups(model, uniform_groups(model.config, default_variant(), choice), true);
    } catch (const InputError&) {
      continue;  // what must not come is std::bad_alloc or the end of the process
    }
  }
}

// Walks every encoding that is registered: those with weights of their own start untrained.
TEST(Model, WithGroupsNamesUntrainedWeights) {
  const Model model = make_model(small_config(), 1);
  int with_weights = 0;
  for (const Encoding& candidate : encodings()) {
    const Choice choice = encoding_choice(candidate.id);
    if (!refusal(default_variant(), choice, true, Dimensions{8, 2, 2, 4, 4, 16}, 0, 0).empty()) {
      continue;
    }
    const Model other =
        with_groups(model, uniform_groups(model.config, default_variant(), choice), true);
    const std::size_t own = other.weights.size() - model.weights.size();
    EXPECT_EQ(other.untrained.size(), own) << candidate.id;
    if (own == 0) continue;
    ++with_weights;
    // Asked for again, with the same encoding, they are still untrained; without it they are gone.
    EXPECT_EQ(with_groups(other, other.config.groups, true).untrained, other.untrained);
    EXPECT_TRUE(with_groups(other, model.config.groups, true).untrained.empty());
  }
  EXPECT_GT(with_weights, 0);
}

}  // namespace
}  // namespace attnscope
