// Every model opens on something to see.
#include "core/view/opening.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/runner.h"
#include "core/experiment/samples.h"
#include "core/view/view.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Opening, EachBundledModelReadsItsSamplesAndItsViewHasSomethingToSay) {
  for (const std::string& model : bundled_models()) {
    Experiment e = opened_model(model);
    const std::vector<const Sample*> offered = samples_for(model_card(model));
    ASSERT_FALSE(offered.empty()) << model;
    EXPECT_EQ(e.text, offered.front()->text) << model;
    ExperimentRun runner(cpu_only(), model_store());
    const auto trace = runner.run(e, Stop());
    const View& shown = view(e.view.id);
    EXPECT_EQ(shown.objection ? shown.objection(*trace) : "", "") << model << " " << shown.id;
    if (!trace->attention.empty()) {
      EXPECT_NE(trace->find(head_ref(*trace, e.view)), nullptr) << model;
    }
    for (const Sample* sample : offered) {
      read_sample(e, *sample);
      EXPECT_NO_THROW(static_cast<void>(runner.run(e, Stop()))) << model << " " << sample->id;
    }
  }
}

TEST(Opening, EachKindHasItsView) {
  const auto own = [](const char* model) { return opened_model(model).view.id; };
  const std::pair<const char*, const char*> views[] = {
      {"default", "map"},           {"paths", "trajectory"},      {"numbers", "alignment"},
      {"numbers-dot", "alignment"}, {"digits", "image"},          {"brackets", "steps"},
      {"exits-calm", "depth"},      {"exits-geometric", "depth"}, {"recall-gated", "gates"},
      {"recall-plain", "memory"},   {"memory-xl", "memory"},      {"span-dynamic", "span"}};
  for (const auto& [model, id] : views) EXPECT_EQ(own(model), id) << model;
}

TEST(Opening, AnotherTaskBringsItsSampleAndGoesBackToTheText) {
  Experiment text;
  text.text = "my own words";
  text.variant = Choice{"local", {}};
  text.view.pinned_query = 2;
  const OpenedModel digits = with_model(text, "digits");
  EXPECT_TRUE(digits.reads_other);
  EXPECT_EQ(digits.experiment.text, "");
  EXPECT_TRUE(digits.experiment.input.ends_with("digit.png"));
  EXPECT_EQ(digits.experiment.view.id, "image");
  EXPECT_EQ(digits.experiment.view.pinned_query, -1);
  EXPECT_FALSE(digits.experiment.variant.has_value());
  EXPECT_EQ(digits.along, (std::vector<std::string>{"the sample “A digit”", "the view Image"}));
  const OpenedModel back = with_model(digits.experiment, "twin-rope", {{"text", text}});
  EXPECT_EQ(back.experiment.text, "my own words");
  EXPECT_EQ(back.experiment.input, "");
  EXPECT_EQ(back.experiment.view.id, "map");
  EXPECT_EQ(back.along, (std::vector<std::string>{"the text from before", "the view Map"}));
}

TEST(Opening, WhatSuitsStaysAndSoDoesAViewThatWasChosen) {
  Experiment e;
  e.text = "my own words";
  e.view.id = "scores";
  const OpenedModel twin = with_model(e, "twin-t5");
  EXPECT_FALSE(twin.reads_other);
  EXPECT_TRUE(twin.along.empty());
  EXPECT_EQ(twin.experiment.text, e.text);
  EXPECT_EQ(twin.experiment.view, e.view);
  const OpenedModel brackets = with_model(e, "brackets");
  EXPECT_EQ(brackets.experiment.view.id, "scores");
  EXPECT_TRUE(suits("brackets", brackets.experiment.text));
  e.text = "(())[]";
  EXPECT_EQ(with_model(e, "brackets").experiment.text, "(())[]");
  // Of a folder that is none nothing is known; its run says why.
  const OpenedModel none = with_model(e, "no/such/model");
  EXPECT_EQ(none.experiment.model, "no/such/model");
  EXPECT_EQ(none.experiment.text, e.text);
  EXPECT_THROW(static_cast<void>(opened_model("no/such/model")), InputError);
}

// Where the text is one's own it stays; a short sample says nothing of a memory.
TEST(Opening, SamplesGiveWayToMoreTellingOnes) {
  Experiment e;
  read_sample(e, samples().front());
  EXPECT_TRUE(with_model(e, "twin-rope").along.empty());
  const OpenedModel memory = with_model(e, "memory-xl");
  EXPECT_FALSE(memory.reads_other);
  EXPECT_EQ(sample_read(memory.experiment)->id, "lighthouse");
  EXPECT_EQ(memory.experiment.view.part.segment, 3);
  const OpenedModel induction = with_model(memory.experiment, "induction");
  EXPECT_EQ(sample_read(induction.experiment)->id, "repetition");
  EXPECT_EQ(induction.experiment.view.layer, 1);
  e.text += " And so on.";
  EXPECT_EQ(with_model(e, "memory-xl").experiment.text, e.text);
}

// Trained classifiers of exits are sure early; the threshold goes with the model.
TEST(Opening, SureExitsHaveTheirThresholdUntilItIsMoved) {
  const Experiment calm = opened_model("exits-calm");
  EXPECT_EQ(view_values(calm.view, "depth").real("threshold"), 0.8);
  const Experiment geometric = with_model(calm, "exits-geometric").experiment;
  EXPECT_EQ(view_values(geometric.view, "depth").real("threshold"), 0.3);
  Experiment moved = calm;
  set_view_value(moved.view, "depth", "threshold", 0.6);
  EXPECT_EQ(
      view_values(with_model(moved, "exits-geometric").experiment.view, "depth").real("threshold"),
      0.6);
}

TEST(Opening, FilesFindAModelThatReadsThem) {
  const std::filesystem::path samples = testing::source_folder() / "assets" / "samples";
  EXPECT_EQ(reader_of(samples / "digit.png", "default"), "digits");
  EXPECT_EQ(reader_of(samples / "walk.safetensors", "default"), "paths");
  EXPECT_EQ(reader_of(testing::source_folder() / "assets/pictures/hills.png", "default"), "");
  EXPECT_EQ(reader_of(testing::source_folder() / "assets/pictures/hills.png", "digits"), "digits");
  EXPECT_THROW(static_cast<void>(reader_of(samples / "01-pronoun.txt", "default")), InputError);
  const Experiment text = reading_text("the cat", opened_model("digits"));
  EXPECT_EQ(text.model, "default");
  EXPECT_EQ(text.text, "the cat");
  EXPECT_EQ(text.input, "");
  EXPECT_EQ(reading_text("((", opened_model("brackets")).model, "brackets");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
