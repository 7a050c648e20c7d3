#include "core/model/structure.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::close;
using testing::small_config;

Batch make_batch() {
  return next_token_batch(IntTensor::from({1, 6}, {3, 1, 4, 1, 5, 9}));
}

Tensor logits_of(const Model& model, const Batch& batch) {
  return run(model, batch, {}).logits.value();
}

bool is_untrained(const Model& model, const std::string& name) {
  return std::ranges::count(model.untrained, name) > 0;
}

TEST(Structure, EmptyStructureKeepsTheModel) {
  const Model model = make_model(small_config({.layers = 2}), 1);
  const Model result = with_structure(model, {});
  EXPECT_EQ(result.config, model.config);
  EXPECT_TRUE(close(logits_of(result, make_batch()), logits_of(model, make_batch()), 0));
}

TEST(Structure, KeepsWeightsOfTheSameName) {
  const Model model = make_model(small_config({.layers = 2}), 1);
  Structure structure;
  structure.residual_connection = default_choice(residual_connection("gru"));
  const Model gated_model = with_structure(model, structure);
  EXPECT_EQ(gated_model.config.residual_connection.id, "gru");
  for (const auto& [name, weight] : model.weights) {
    ASSERT_TRUE(gated_model.weights.contains(name)) << name;
    EXPECT_EQ(gated_model.weights.at(name).value().data(), weight.value().data()) << name;
    EXPECT_FALSE(is_untrained(gated_model, name)) << name;
  }
  EXPECT_TRUE(is_untrained(gated_model, "layers.0.attn_join.b"));
  EXPECT_GT(gated_model.weights.size(), model.weights.size());
}

// A recurrence over depth with a single step equals the decoder.
TEST(Structure, UniversalWithOneStepEqualsDecoder) {
  const Model model = make_model(small_config({.layers = 2}), 1);
  Structure structure;
  structure.architecture = default_choice(architecture("universal"));
  structure.architecture->values.set("steps", Index{1});
  structure.architecture->values.set("halting", std::string("none"));
  const Model one_step = with_structure(model, structure);
  EXPECT_TRUE(close(logits_of(one_step, make_batch()), logits_of(model, make_batch())));
  structure.architecture->values.set("steps", Index{3});
  EXPECT_TRUE(testing::differs(logits_of(with_structure(model, structure), make_batch()),
                               logits_of(model, make_batch()), 1e-4));
}

TEST(Structure, AdaptsModelToEveryArchitecture) {
  const Model model = make_model(small_config({.layers = 2, .heads = 4}), 1);
  for (const Architecture& type : architectures()) {
    Structure structure;
    structure.architecture = default_choice(type);
    const Model adapted_model = with_structure(model, structure);
    EXPECT_EQ(adapted_model.config.architecture.id, type.id);
    EXPECT_NO_THROW(check(adapted_model.config, "other")) << type.id;
  }
}

TEST(Structure, AddsAndRemovesExits) {
  const Model model = make_model(small_config({.layers = 2}), 1);
  Structure structure;
  structure.exits = default_choice(exit_rule("saturation"));
  const Model with_exits = with_structure(model, structure);
  ASSERT_TRUE(with_exits.config.exits.has_value());
  structure.exits = no_exits();
  EXPECT_EQ(with_structure(with_exits, structure).config, model.config);
}

TEST(Structure, RejectsInvalidChoices) {
  const Model model = make_model(small_config({.layers = 1}), 1);
  Structure structure;
  structure.exits = default_choice(exit_rule("saturation"));
  try {
    with_structure(model, structure);
    FAIL() << "accepted exits in a model of one layer";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("two layers"), std::string::npos) << e.what();
  }
}

TEST(Structure, RoundTripsThroughJson) {
  Structure structure;
  structure.architecture = default_choice(architecture("universal"));
  structure.residual_connection = default_choice(residual_connection("gru"));
  structure.exits = no_exits();
  structure.segment = 8;
  Json json = Json::object();
  add_to_json(structure, json);
  JsonObject members(json, "session");
  EXPECT_EQ(structure_from_json(members), structure);
  members.finish();
  const Json invalid = {{"segment", -1}};
  JsonObject invalid_members(invalid, "");
  EXPECT_THROW(structure_from_json(invalid_members), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
