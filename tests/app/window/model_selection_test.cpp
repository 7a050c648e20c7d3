#include "app/window/model_selection.h"

#include <gtest/gtest.h>

#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class ModelSelectionTest : public ::testing::Test {
 protected:
  ModelSelectionTest() {
    state_.experiment.run.text = "my own words";
    state_.history.record(state_.experiment, 0);
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.run.trace = runner.run(state_.experiment.run);
    state_.run.shown = state_.experiment;
    replace_empty_view(state_);
  }
  State state_;
};

TEST_F(ModelSelectionTest, ReportsAndRevertsImpliedChanges) {
  const Session before = state_.experiment;
  choose_model(state_, "numbers");
  EXPECT_EQ(state_.experiment.run.text, "24");
  EXPECT_EQ(state_.experiment.view.id, "alignment");
  EXPECT_EQ(implied_model_changes(state_), "the sample “24”, the view Alignment");
  run();
  undo_model_selection(state_);
  EXPECT_EQ(state_.experiment, before);
  EXPECT_EQ(implied_model_changes(state_), "");
}

TEST_F(ModelSelectionTest, EachTaskKeepsItsInput) {
  choose_model(state_, "brackets");
  state_.experiment.run.text = "(([]))";
  EXPECT_EQ(implied_model_changes(state_), "");  // the text differs by now
  choose_model(state_, "paths");
  EXPECT_TRUE(state_.experiment.run.input.ends_with("walk.safetensors"));
  EXPECT_EQ(state_.experiment.view.id, "trajectory");
  choose_model(state_, "default");
  EXPECT_EQ(state_.experiment.run.text, "my own words");
  EXPECT_EQ(state_.experiment.view.id, "map");
  choose_model(state_, "brackets");
  EXPECT_EQ(state_.experiment.run.text, "(([]))");
  return_to_text(state_);
  EXPECT_EQ(state_.experiment.run.model, "default");
  EXPECT_EQ(state_.experiment.run.text, "my own words");
}

// A selected view stays as long as it has content for the run; otherwise the view of the model
// replaces it within the same undo step.
TEST_F(ModelSelectionTest, ReplacesOnlyViewsWithoutContent) {
  state_.experiment.view.id = "grid";
  state_.history.record(state_.experiment, 1);
  choose_model(state_, "numbers-dot");
  state_.history.record(state_.experiment, 2);
  EXPECT_EQ(state_.experiment.view.id, "grid");
  run();
  EXPECT_EQ(state_.experiment.view.id, "grid");
  choose_model(state_, "default");
  state_.experiment.view.id = "rope";
  state_.history.record(state_.experiment, 3);
  run();
  choose_model(state_, "paths");
  state_.history.record(state_.experiment, 4);
  EXPECT_EQ(state_.experiment.view.id, "rope");
  run();
  EXPECT_EQ(state_.experiment.view.id, "trajectory");
  EXPECT_EQ(implied_model_changes(state_), "the sample “A walk”, the view Trajectory");
  EXPECT_EQ(state_.history.undo().view.id, "rope");
}

TEST_F(ModelSelectionTest, SampleReplacesInput) {
  choose_model(state_, "numbers");
  const std::vector<const Sample*> offered = samples_for(model_card("numbers"));
  choose_sample(state_, *offered.at(1));
  EXPECT_EQ(state_.experiment.run.text, offered.at(1)->text);
  EXPECT_EQ(state_.experiment.run.model, "numbers");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
