#include "app/window/opening.h"

#include <gtest/gtest.h>

#include "core/checkpoint/model_store.h"
#include "core/experiment/runner.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class OpeningTest : public ::testing::Test {
 protected:
  OpeningTest() {
    state_.experiment.text = "my own words";
    state_.history.record(state_.experiment, 0);
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.trace = runner.run(state_.experiment, Stop());
    state_.shown = state_.experiment;
    settle_view(state_);
  }
  State state_;
};

TEST_F(OpeningTest, SaysWhatItSetsAlongAndTakesItBack) {
  const Experiment before = state_.experiment;
  choose_model(state_, "numbers");
  EXPECT_EQ(state_.experiment.text, "24");
  EXPECT_EQ(state_.experiment.view.id, "alignment");
  EXPECT_EQ(opened_along(state_), "the sample “24”, the view Alignment");
  run();
  undo_opened(state_);
  EXPECT_EQ(state_.experiment, before);
  EXPECT_EQ(opened_along(state_), "");
}

TEST_F(OpeningTest, EachTaskKeepsWhatWasReadForIt) {
  choose_model(state_, "brackets");
  state_.experiment.text = "(([]))";
  EXPECT_EQ(opened_along(state_), "");  // it is another text by now
  choose_model(state_, "paths");
  EXPECT_TRUE(state_.experiment.input.ends_with("walk.safetensors"));
  EXPECT_EQ(state_.experiment.view.id, "trajectory");
  choose_model(state_, "default");
  EXPECT_EQ(state_.experiment.text, "my own words");
  EXPECT_EQ(state_.experiment.view.id, "map");
  choose_model(state_, "brackets");
  EXPECT_EQ(state_.experiment.text, "(([]))");
  back_to_text(state_);
  EXPECT_EQ(state_.experiment.model, "default");
  EXPECT_EQ(state_.experiment.text, "my own words");
}

// A view that was chosen stays as long as it has something to say about the run; where it has not
// the model's own takes its place, within the same step of undo.
TEST_F(OpeningTest, OnlyAViewWithNothingToSayGivesWay) {
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
  EXPECT_EQ(opened_along(state_), "the sample “A walk”, the view Trajectory");
  EXPECT_EQ(state_.history.undo().view.id, "rope");
}

TEST_F(OpeningTest, ASampleTakesThePlaceOfWhatIsRead) {
  choose_model(state_, "numbers");
  const std::vector<const Sample*> offered = samples_for(model_card("numbers"));
  choose_sample(state_, *offered.at(1));
  EXPECT_EQ(state_.experiment.text, offered.at(1)->text);
  EXPECT_EQ(state_.experiment.model, "numbers");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
