#include "app/window/variant_selection.h"

#include <gtest/gtest.h>

#include "core/checkpoint/model_store.h"
#include "core/experiment/compatible_choice.h"
#include "core/experiment/run.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// State with a run of the default model on a text of 13 tokens.
class VariantSelectionTest : public ::testing::Test {
 protected:
  VariantSelectionTest() {
    state_.session.edit().run.text = "the old house stood by the sea and nobody knew why it was";
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.run.trace = runner.run(state_.session->run);
  }
  void select(const std::string& id) { select_variant(state_, Choice{id, {}}, true); }

  State state_;
};

TEST_F(VariantSelectionTest, AppliesAndRevertsImpliedChanges) {
  const Session initial = *state_.session;
  select("linformer");
  EXPECT_EQ(implied_changes(state_), "bidirectional");
  EXPECT_EQ(implied_changes_reason(state_),
            "Each projected key mixes tokens of the whole text, so that no mask over the k columns "
            "hides later tokens; Linformer is for encoders");
  EXPECT_FALSE(state_.session->run.encoding.has_value());
  EXPECT_EQ(state_.session->run.causal, false);
  run();
  undo_implied_changes(state_);
  EXPECT_EQ(*state_.session, initial);
  EXPECT_EQ(implied_changes(state_), "");
}

TEST_F(VariantSelectionTest, NextSelectionRevertsImpliedChanges) {
  select("sinkhorn");
  EXPECT_EQ(state_.session->run.max_tokens, 12);
  run();
  ASSERT_EQ(state_.run.trace->tokens.size(), 12u);
  select("image_2d");
  EXPECT_EQ(implied_changes(state_), "the first 12 of 13 tokens");
  EXPECT_FALSE(state_.session->run.encoding.has_value());
  EXPECT_FALSE(state_.session->run.causal.has_value());
  run();
  select("local");
  EXPECT_EQ(implied_changes(state_), "");
  EXPECT_EQ(state_.session->run.max_tokens, 0);
  EXPECT_EQ(state_.session->run.variant->values.integer("window"), 2);
}

// Implied changes remain if parameters change; a manual choice replaces the implied changes.
TEST_F(VariantSelectionTest, ImpliedChangesOutliveParameterChanges) {
  select("gmlp");
  select("linformer");
  run();
  Choice fewer_keys = *state_.session->run.variant;
  fewer_keys.values.set("k", Index{2});
  select_variant(state_, fewer_keys, false);
  EXPECT_EQ(state_.session->run.variant->values.integer("k"), 2);
  EXPECT_EQ(implied_changes(state_), "bidirectional");
  select("full");
  EXPECT_FALSE(state_.session->run.causal.has_value());

  select("gmlp");
  EXPECT_EQ(implied_changes(state_), "no positions");
  state_.session.edit().run.encoding =
      Choice{"sinusoidal", default_values(encoding("sinusoidal").parameters)};
  EXPECT_EQ(implied_changes(state_), "");
  select("local");
  EXPECT_EQ(state_.session->run.encoding->id, "sinusoidal");
}

// The numbers of rows and columns follow the current text.
TEST_F(VariantSelectionTest, ParametersFollowTextLength) {
  state_.session.edit().run.text = "the old house stood by the sea and the cat";  // 10 tokens
  run();
  select("image_2d");
  EXPECT_EQ(implied_changes(state_), "the first 9 of 10 tokens");
  state_.session.edit().run.text = "the old house stood by the";
  adapt_parameters_to_text(state_);
  EXPECT_EQ(implied_changes(state_), "");
  EXPECT_EQ(state_.session->run.variant->values.integer("width"), 3);
  EXPECT_EQ(state_.session->run.variant->values.integer("height"), 2);
  run();
  state_.session.edit().run.text += " sea";
  adapt_parameters_to_text(state_);
  EXPECT_EQ(implied_changes(state_), "the first 6 of 7 tokens");
  run();
  EXPECT_EQ(state_.run.trace->tokens.size(), 6u);
}

TEST_F(VariantSelectionTest, ParametersImplyChanges) {
  Choice additive = default_variant();
  additive.values.set("score", std::string("additive"));
  EXPECT_EQ(variant_refusal(state_, additive, false), "");
  select_variant(state_, additive, false);
  EXPECT_EQ(implied_changes(state_), "no positions");
}

TEST_F(VariantSelectionTest, ExplainsWhyEncodingImpliesVariant) {
  select("linear");
  EXPECT_EQ(implied_changes_reason(state_), "");
  select_encoding(state_, Choice{"alibi", {}}, true);
  EXPECT_EQ(implied_changes(state_), "full attention");
  EXPECT_EQ(implied_changes_reason(state_),
            "Linear never forms scores of pairs, so ALiBi has nothing to change");
  EXPECT_EQ(refusal_sentence("model: position.type: expected b, found c (a)"), "A");
  EXPECT_EQ(refusal_sentence("config.json: width: expected 1"), "config.json: width: expected 1");
}

TEST_F(VariantSelectionTest, SelectionForOneHeadKeepsOthers) {
  state_.selection.scope = ChoiceScope::Head;
  select("gmlp");
  EXPECT_FALSE(state_.session->run.variant.has_value());
  EXPECT_FALSE(state_.session->run.encoding.has_value());
  ASSERT_FALSE(state_.session->run.groups.empty());
  EXPECT_EQ(implied_changes(state_), "no positions");
  run();
  EXPECT_EQ(state_.run.trace->attention.front().variant.id, "gmlp");
  EXPECT_EQ(state_.run.trace->attention[1].variant.id, "full");
}

TEST_F(VariantSelectionTest, DirectionsAndEncodingsRestoreFullAttention) {
  select("linformer");
  run();
  EXPECT_EQ(direction_refusal(state_, true), "");
  select_direction(state_, true);
  EXPECT_EQ(state_.session->run.variant->id, "full");
  EXPECT_EQ(state_.session->run.causal, true);
  EXPECT_EQ(implied_changes(state_), "full attention");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
