#include "app/window/picking.h"

#include <gtest/gtest.h>

#include "core/checkpoint/model_store.h"
#include "core/experiment/company.h"
#include "core/experiment/runner.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// A window that shows the default model's run on a text of 13 tokens.
class PickingTest : public ::testing::Test {
 protected:
  PickingTest() {
    state_.experiment.text = "the old house stood by the sea and nobody knew why it was";
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.trace = runner.run(state_.experiment, Stop());
  }
  void pick(const std::string& id) { pick_variant(state_, Choice{id, {}}, true); }

  State state_;
};

TEST_F(PickingTest, SetsAlongWhatAVariantNeedsAndTakesItBack) {
  const Experiment before = state_.experiment;
  pick("linformer");
  EXPECT_EQ(set_along(state_), "no positions, both directions");
  EXPECT_EQ(
      set_along_reason(state_),
      "Linformer scores keys that are mixed from many positions, so RoPE has nothing to turn. "
      "A projected key mixes positions before and after");
  EXPECT_EQ(state_.experiment.encoding->id, "none");
  EXPECT_EQ(state_.experiment.causal, false);
  run();
  undo_set_along(state_);
  EXPECT_EQ(state_.experiment, before);
  EXPECT_EQ(set_along(state_), "");
}

// What one variant needed is not left behind for the next.
TEST_F(PickingTest, TheNextPickBeginsWithoutIt) {
  pick("sinkhorn");
  EXPECT_EQ(state_.experiment.most_tokens, 12);
  run();
  ASSERT_EQ(state_.trace->tokens.size(), 12u);
  pick("image_2d");
  EXPECT_EQ(set_along(state_), "the first 12 of 13 tokens");
  EXPECT_FALSE(state_.experiment.encoding.has_value());
  EXPECT_FALSE(state_.experiment.causal.has_value());
  run();
  pick("local");
  EXPECT_EQ(set_along(state_), "");
  EXPECT_EQ(state_.experiment.most_tokens, 0);
  EXPECT_EQ(state_.experiment.variant->values.integer("window"), 2);
}

// Parameters may change meanwhile; a choice by hand beside it stays.
TEST_F(PickingTest, OutlivesParametersOfTheChoice) {
  pick("gmlp");
  pick("linformer");
  run();
  Choice fewer = *state_.experiment.variant;
  fewer.values.set("k", Index{2});
  pick_variant(state_, fewer, false);
  EXPECT_EQ(state_.experiment.variant->values.integer("k"), 2);
  EXPECT_EQ(set_along(state_), "no positions, both directions");
  pick("full");
  EXPECT_FALSE(state_.experiment.encoding.has_value());

  pick("linformer");
  state_.experiment.encoding =
      Choice{"sinusoidal", default_values(encoding("sinusoidal").parameters)};
  EXPECT_EQ(set_along(state_), "");
  pick("local");
  EXPECT_EQ(state_.experiment.encoding->id, "sinusoidal");
}

// Rows and columns are those of the text that is there.
TEST_F(PickingTest, FollowsTheText) {
  state_.experiment.text = "the old house stood by the sea and the cat";  // 10 tokens
  run();
  pick("image_2d");
  EXPECT_EQ(set_along(state_), "the first 9 of 10 tokens");
  state_.experiment.text = "the old house stood by the";
  follow_text(state_);
  EXPECT_EQ(set_along(state_), "");
  EXPECT_EQ(state_.experiment.variant->values.integer("width"), 3);
  EXPECT_EQ(state_.experiment.variant->values.integer("height"), 2);
  run();
  state_.experiment.text += " sea";
  follow_text(state_);
  EXPECT_EQ(set_along(state_), "the first 6 of 7 tokens");
  run();
  EXPECT_EQ(state_.trace->tokens.size(), 6u);
}

TEST_F(PickingTest, ParametersBringAlongWhatTheyNeed) {
  Choice additive = default_variant();
  additive.values.set("score", std::string("additive"));
  EXPECT_EQ(variant_refusal(state_, additive, false), "");
  pick_variant(state_, additive, false);
  EXPECT_EQ(set_along(state_), "no positions");
}

TEST_F(PickingTest, SaysWhyAnEncodingTakesAnotherVariantAlong) {
  pick("linear");
  EXPECT_EQ(set_along_reason(state_), "");
  pick_encoding(state_, Choice{"alibi", {}}, true);
  EXPECT_EQ(set_along(state_), "full attention");
  EXPECT_EQ(set_along_reason(state_),
            "Linear never forms scores of pairs, so ALiBi has nothing to change");
  EXPECT_EQ(refusal_in_words("model: position.type: a; expected b, found c"), "A");
  EXPECT_EQ(refusal_in_words("config.json: width: expected 1"), "config.json: width: expected 1");
}

// For some heads alone: the others keep what they have.
TEST_F(PickingTest, OfOneHeadLeavesTheOthers) {
  state_.scope = ChoiceScope::Head;
  pick("gmlp");
  EXPECT_FALSE(state_.experiment.variant.has_value());
  EXPECT_FALSE(state_.experiment.encoding.has_value());
  ASSERT_FALSE(state_.experiment.groups.empty());
  EXPECT_EQ(set_along(state_), "no positions");
  run();
  EXPECT_EQ(state_.trace->attention.front().variant.id, "gmlp");
  EXPECT_EQ(state_.trace->attention[1].variant.id, "full");
}

TEST_F(PickingTest, DirectionsAndEncodingsGiveFullAttentionBack) {
  pick("linformer");
  run();
  EXPECT_EQ(direction_refusal(state_, true), "");
  pick_direction(state_, true);
  EXPECT_EQ(state_.experiment.variant->id, "full");
  EXPECT_EQ(state_.experiment.causal, true);
  EXPECT_EQ(set_along(state_), "full attention");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
