// Every model opens on a view with content.
#include "core/view/opening.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"
#include "core/experiment/samples.h"
#include "core/view/view.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Opening, BundledModelsReadTheirSamplesAndHaveContent) {
  for (const std::string& model : bundled_models()) {
    RunView run_view = open_model(model);
    const std::vector<const Sample*> model_samples = samples_for(model_card(model));
    ASSERT_FALSE(model_samples.empty()) << model;
    EXPECT_EQ(run_view.run.text, model_samples.front()->text) << model;
    ExperimentRun runner(cpu_only(), model_store());
    const auto trace = runner.run(run_view.run);
    const View& opened_view = view(run_view.view.id);
    EXPECT_EQ(opened_view.objection(*trace), "") << model << " " << opened_view.id;
    if (!trace->attention.empty()) {
      EXPECT_NE(trace->find(head_ref(*trace, run_view.view)), nullptr) << model;
    }
    for (const Sample* sample : model_samples) {
      use_sample(run_view.run, *sample);
      EXPECT_NO_THROW(static_cast<void>(runner.run(run_view.run))) << model << " " << sample->id;
    }
  }
}

TEST(Opening, ModelsOpenWithRecommendedView) {
  const auto initial_view = [](const char* model) { return open_model(model).view.id; };
  const std::pair<const char*, const char*> views[] = {
      {"default", "map"},           {"paths", "trajectory"},      {"numbers", "alignment"},
      {"numbers-dot", "alignment"}, {"digits", "image"},          {"brackets", "steps"},
      {"exits-calm", "depth"},      {"exits-geometric", "depth"}, {"recall-gated", "gates"},
      {"recall-plain", "memory"},   {"memory-xl", "memory"},      {"span-dynamic", "span"}};
  for (const auto& [model, id] : views) EXPECT_EQ(initial_view(model), id) << model;
}

TEST(Opening, SwitchingTaskLoadsSampleAndRestoresText) {
  RunView text;
  text.run.text = "my own words";
  text.run.variant = Choice{"local", {}};
  text.view.pinned_query = 2;
  const OpenedModel digits = with_model(text, "digits");
  EXPECT_TRUE(digits.input_kind_changed);
  EXPECT_EQ(digits.viewed.run.text, "");
  EXPECT_TRUE(digits.viewed.run.input.ends_with("digit.png"));
  EXPECT_EQ(digits.viewed.view.id, "image");
  EXPECT_EQ(digits.viewed.view.pinned_query, -1);
  EXPECT_FALSE(digits.viewed.run.variant.has_value());
  EXPECT_EQ(digits.implied, (std::vector<std::string>{"the sample “A digit”", "the view Image"}));
  const OpenedModel back = with_model(digits.viewed, "twin-rope", {{"text", text}});
  EXPECT_EQ(back.viewed.run.text, "my own words");
  EXPECT_EQ(back.viewed.run.input, "");
  EXPECT_EQ(back.viewed.view.id, "map");
  EXPECT_EQ(back.implied, (std::vector<std::string>{"the previous text", "the view Map"}));
}

TEST(Opening, KeepsCompatibleSettingsAndChosenView) {
  RunView run_view;
  run_view.run.text = "my own words";
  run_view.view.id = "scores";
  const OpenedModel twin = with_model(run_view, "twin-t5");
  EXPECT_FALSE(twin.input_kind_changed);
  EXPECT_TRUE(twin.implied.empty());
  EXPECT_EQ(twin.viewed.run.text, run_view.run.text);
  EXPECT_EQ(twin.viewed.view, run_view.view);
  const OpenedModel brackets = with_model(run_view, "brackets");
  EXPECT_EQ(brackets.viewed.view.id, "scores");
  EXPECT_TRUE(fits_task("brackets", brackets.viewed.run.text));
  run_view.run.text = "(())[]";
  EXPECT_EQ(with_model(run_view, "brackets").viewed.run.text, "(())[]");
  // An invalid folder changes only the model; the run reports the error.
  const OpenedModel none = with_model(run_view, "no/such/model");
  EXPECT_EQ(none.viewed.run.model, "no/such/model");
  EXPECT_EQ(none.viewed.run.text, run_view.run.text);
  EXPECT_THROW(static_cast<void>(open_model("no/such/model")), InputError);
}

// The user's own text stays; a sample that is too short to fill a memory is replaced.
TEST(Opening, RecommendedSamplesReplaceOtherSamples) {
  RunView run_view;
  use_sample(run_view.run, samples().front());
  EXPECT_TRUE(with_model(run_view, "twin-rope").implied.empty());
  const OpenedModel memory = with_model(run_view, "memory-xl");
  EXPECT_FALSE(memory.input_kind_changed);
  EXPECT_EQ(current_sample(memory.viewed.run)->id, "lighthouse");
  EXPECT_EQ(memory.viewed.view.part.segment, 3);
  const OpenedModel induction = with_model(memory.viewed, "induction");
  EXPECT_EQ(current_sample(induction.viewed.run)->id, "repetition");
  EXPECT_EQ(induction.viewed.view.layer, 1);
  run_view.run.text += " And so on.";
  EXPECT_EQ(with_model(run_view, "memory-xl").viewed.run.text, run_view.run.text);
}

// Models with trained exit classifiers recommend a threshold, which applies until the user changes
// it.
TEST(Opening, TrainedExitsSetThresholdUntilItIsChanged) {
  const RunView calm = open_model("exits-calm");
  EXPECT_EQ(view_values(calm.view, "depth").real("threshold"), 0.8);
  const RunView geometric = with_model(calm, "exits-geometric").viewed;
  EXPECT_FALSE(view_values(geometric.view, "depth").has("threshold"));  // automatic
  RunView moved = calm;
  set_view_value(moved.view, "depth", "threshold", 0.6);
  EXPECT_EQ(
      view_values(with_model(moved, "exits-geometric").viewed.view, "depth").real("threshold"),
      0.6);
}

TEST(Opening, FilesSelectCompatibleModel) {
  const std::filesystem::path samples = testing::source_folder() / "assets" / "samples";
  EXPECT_EQ(model_that_reads(samples / "digit.png", "default"), "digits");
  EXPECT_EQ(model_that_reads(samples / "walk.safetensors", "default"), "paths");
  EXPECT_EQ(model_that_reads(testing::source_folder() / "assets/pictures/hills.png", "default"),
            "");
  EXPECT_EQ(model_that_reads(testing::source_folder() / "assets/pictures/hills.png", "digits"),
            "digits");
  EXPECT_THROW(static_cast<void>(model_that_reads(samples / "01-pronoun.txt", "default")),
               InputError);
  const RunView text = with_text("the cat", open_model("digits"));
  EXPECT_EQ(text.run.model, "default");
  EXPECT_EQ(text.run.text, "the cat");
  EXPECT_EQ(text.run.input, "");
  EXPECT_EQ(with_text("((", open_model("brackets")).run.model, "brackets");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
