#include "core/experiment/effective_model.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/checkpoint/files.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ModelConfig make_config(Index heads, Index kv_heads) {
  ModelConfig c;
  c.vocabulary = 11;
  c.context = 16;
  c.width = 8;
  c.layers = 3;
  c.heads = heads;
  c.kv_heads = kv_heads;
  c.head_size = 4;
  c.hidden = 12;
  c.groups = uniform_groups(c, default_variant(), default_encoding());
  return c;
}

const Choice kLocal{"local", default_values(variant("local").parameters)};
const Choice kAlibi{"alibi", default_values(encoding("alibi").parameters)};

GroupChoice local_choice(std::vector<Index> layers, std::vector<Index> heads) {
  return {std::move(layers), std::move(heads), kLocal, std::nullopt};
}

std::vector<Index> group_sizes(const std::vector<HeadGroup>& groups) {
  std::vector<Index> result;
  for (const HeadGroup& group : groups) result.push_back(group.heads);
  return result;
}
using Sizes = std::vector<Index>;

TEST(EffectiveModel, MatchesCheckpointWithoutChoices) {
  EXPECT_EQ(effective_groups(make_config(6, 6), {}), make_config(6, 6).groups);
}

TEST(EffectiveModel, AppliesGroupChoiceToItsLayersAndHeads) {
  RunSpec spec;
  spec.groups = {local_choice({0, 2}, {1, 2})};
  const auto groups = effective_groups(make_config(6, 6), spec);
  EXPECT_EQ(group_sizes(groups[0]), (Sizes{1, 2, 3}));
  EXPECT_EQ(group_sizes(groups[1]), Sizes{6});
  EXPECT_EQ(groups[2], groups[0]);
  EXPECT_EQ(groups[0][1].variant, kLocal);
  EXPECT_EQ(groups[0][1].encoding, default_encoding());
  EXPECT_EQ(groups[0][2].variant, default_variant());
}

TEST(EffectiveModel, LaterChoicesOverrideEarlier) {
  RunSpec spec;
  spec.variant = Choice{"block_local", default_values(variant("block_local").parameters)};
  spec.encoding = kAlibi;
  spec.groups = {local_choice({}, {0, 1, 2}),
                 local_choice({1}, {}),
                 {{1}, {5}, default_variant(), std::nullopt}};
  const auto groups = effective_groups(make_config(6, 6), spec);
  EXPECT_EQ(group_sizes(groups[0]), (Sizes{3, 3}));
  EXPECT_EQ(groups[0][0].variant, kLocal);
  EXPECT_EQ(groups[0][1].variant.id, "block_local");
  EXPECT_EQ(group_sizes(groups[1]), (Sizes{5, 1}));
  EXPECT_EQ(groups[1][0].variant, kLocal);
  EXPECT_EQ(groups[1][1].variant, default_variant());
  for (const auto& layer : groups) {
    for (const HeadGroup& group : layer) EXPECT_EQ(group.encoding, kAlibi);
  }
}

TEST(EffectiveModel, MergesNeighbouringHeadsWithEqualChoices) {
  RunSpec spec;
  spec.groups = {local_choice({}, {0, 1}), local_choice({}, {2}), local_choice({}, {5})};
  const auto groups = effective_groups(make_config(6, 6), spec);
  EXPECT_EQ(group_sizes(groups[0]), (Sizes{3, 2, 1}));
  EXPECT_EQ(groups[0][0].variant, kLocal);
}

// Each key-value head serves three heads.
TEST(EffectiveModel, GroupsHeadsThatShareKeys) {
  const auto sizes_with = [](std::vector<Index> heads) {
    RunSpec spec;
    spec.groups = {local_choice({0}, std::move(heads))};
    const ModelConfig c = make_config(9, 3);
    ModelConfig result_config = c;
    result_config.groups = effective_groups(c, spec);
    check(result_config, "chosen");
    return group_sizes(result_config.groups[0]);
  };
  EXPECT_EQ(sizes_with({0, 1, 2}), (Sizes{3, 6}));
  EXPECT_EQ(sizes_with({4}), (Sizes{3, 1, 1, 1, 3}));
  EXPECT_EQ(sizes_with({2, 3}), (Sizes{2, 1, 1, 2, 3}));
  EXPECT_EQ(sizes_with({2, 3, 4, 5, 6}), (Sizes{2, 1, 3, 1, 2}));
}

TEST(EffectiveModel, RejectsLayersAndHeadsOutOfRange) {
  const auto error = [](const GroupChoice& group) {
    RunSpec spec;
    spec.groups = {local_choice({}, {}), group};
    return testing::message_of<InputError>([&] { effective_groups(make_config(6, 6), spec); });
  };
  EXPECT_EQ(error(local_choice({3}, {})),
            "groups[1].layers: expected numbers from 0 to 2, found 3");
  EXPECT_EQ(error(local_choice({}, {6})), "groups[1].heads: expected numbers from 0 to 5, found 6");
  EXPECT_EQ(error(local_choice({-1}, {})),
            "groups[1].layers: expected numbers from 0 to 2, found -1");
  EXPECT_EQ(error(local_choice({2}, {0, 5})), "no error");
}

TEST(EffectiveModel, RejectsIncompatibleChoices) {
  const Model model = make_model(make_config(6, 6), 1);
  RunSpec spec;
  spec.groups = {
      {{1}, {2}, Choice{"sinkhorn", default_values(variant("sinkhorn").parameters)}, {}}};
  EXPECT_THROW(effective_model(model, spec), InputError);
  spec.groups = {{{1}, {2}, {}, Choice{"learned", default_values(encoding("learned").parameters)}}};
  EXPECT_THROW(effective_model(model, spec), InputError);  // input encodings act on all heads
  spec.groups = {{{1}, {2}, {}, kAlibi}};
  EXPECT_EQ(effective_model(model, spec).config.groups[1].size(), 3u);
}

// Brackets and sentences span the whole text, which models with segments read in pieces.
TEST(EffectiveModel, RejectsTextParametersWithSegments) {
  std::vector<TraceToken> tokens(4);
  const char* bytes[] = {"a", "(", "b", ")"};
  for (std::size_t n = 0; n < tokens.size(); ++n) tokens[n].bytes = bytes[n];
  RunSpec spec;
  spec.variant = Choice{"graph", default_values(variant("graph").parameters)};
  spec.variant->values.set("from", std::string("brackets"));
  EXPECT_TRUE(with_text_parameters(spec, tokens).variant->values.has("edges"));
  EXPECT_THROW(with_text_parameters(spec, tokens, 2), InputError);
  spec.variant->values.set("from", std::string("chain"));
  EXPECT_EQ(with_text_parameters(spec, tokens, 2).variant, spec.variant);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
