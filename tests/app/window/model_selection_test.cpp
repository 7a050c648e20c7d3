#include "app/window/model_selection.h"

#include <gtest/gtest.h>

#include "app/window/actions/actions.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"
#include "core/experiment/samples.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class ModelSelectionTest : public ::testing::Test {
 protected:
  ModelSelectionTest() {
    state_.session.edit().run.text = "my own words";
    state_.history.record(state_.session.snapshot(), 0);
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.run.trace = runner.run(state_.session->run);
    state_.run.session = state_.session.snapshot();
    replace_empty_view(state_);
  }
  State state_;
};

TEST_F(ModelSelectionTest, ReportsAndRevertsImpliedChanges) {
  const Session initial = *state_.session;
  choose_model(state_, "numbers");
  EXPECT_EQ(state_.session->run.text, "24");
  EXPECT_EQ(state_.session->view.id, "alignment");
  EXPECT_EQ(implied_model_changes(state_), "the sample “24”, the view Alignment");
  run();
  undo_model_selection(state_);
  EXPECT_EQ(*state_.session, initial);
  EXPECT_EQ(implied_model_changes(state_), "");
}

// Another model for B leaves text, layer, head and pins, so that the runs stay comparable.
TEST_F(ModelSelectionTest, ModelOfBKeepsTextAndHead) {
  const Sample& sample = samples().front();
  use_sample(state_.session.edit().run, sample);
  ViewSettings& view = state_.session.edit().view;
  view.layer = 1;
  view.head = 5;
  view.pinned_query = 3;
  run();
  action("compare").run(state_);
  action("compare_edit").run(state_);
  ASSERT_TRUE(state_.edits_b());
  const Session before = *state_.session;
  choose_model(state_, "induction");
  ASSERT_TRUE(state_.session->b.has_value());
  EXPECT_EQ(state_.session->b->run.model, "induction");
  EXPECT_EQ(state_.session->b->run.text, before.run.text);
  EXPECT_EQ(state_.session->b->view, before.b->view);
  EXPECT_EQ(state_.session->view, before.view);
  EXPECT_EQ(implied_model_changes(state_), "");
  // A smaller model has no such head. The next model shows it again.
  state_.session.edit().view.layer = 3;
  state_.session.edit().b->view.layer = 1;  // the last layer of the small model
  choose_model(state_, "default");
  EXPECT_EQ(state_.session->b->view.layer, 3);
  state_.session.edit().b->view.layer = 2;  // chosen by the user
  choose_model(state_, "twin-alibi");
  EXPECT_EQ(state_.session->b->view.layer, 2);
}

TEST_F(ModelSelectionTest, EachTaskKeepsItsInput) {
  choose_model(state_, "brackets");
  state_.session.edit().run.text = "(([]))";
  EXPECT_EQ(implied_model_changes(state_), "");  // the text was edited
  choose_model(state_, "paths");
  EXPECT_TRUE(state_.session->run.input.ends_with("walk.safetensors"));
  EXPECT_EQ(state_.session->view.id, "trajectory");
  choose_model(state_, "default");
  EXPECT_EQ(state_.session->run.text, "my own words");
  EXPECT_EQ(state_.session->view.id, "map");
  choose_model(state_, "brackets");
  EXPECT_EQ(state_.session->run.text, "(([]))");
  return_to_text(state_);
  EXPECT_EQ(state_.session->run.model, "default");
  EXPECT_EQ(state_.session->run.text, "my own words");
}

// A selected view without content for the run is replaced by the model's view, within the undo step
// of the selection.
TEST_F(ModelSelectionTest, ReplacesOnlyViewsWithoutContent) {
  state_.session.edit().view.id = "grid";
  state_.history.record(state_.session.snapshot(), 1);
  choose_model(state_, "numbers-dot");
  state_.history.record(state_.session.snapshot(), 2);
  EXPECT_EQ(state_.session->view.id, "grid");
  run();
  EXPECT_EQ(state_.session->view.id, "grid");
  choose_model(state_, "default");
  state_.session.edit().view.id = "rope";
  state_.history.record(state_.session.snapshot(), 3);
  run();
  choose_model(state_, "paths");
  state_.history.record(state_.session.snapshot(), 4);
  EXPECT_EQ(state_.session->view.id, "rope");
  run();
  EXPECT_EQ(state_.session->view.id, "trajectory");
  EXPECT_EQ(implied_model_changes(state_), "the sample “A walk”, the view Trajectory");
  EXPECT_EQ(state_.history.undo()->view.id, "rope");
}

// As with the options --model and --view, or a session file.
TEST_F(ModelSelectionTest, ReportsReplacedViewOfTheStart) {
  state_.session.edit().view.id = "steps";
  state_.history.record(state_.session.snapshot(), 1);
  state_.selection.has_checked_view = false;
  run();
  EXPECT_EQ(state_.session->view.id, "map");
  ASSERT_EQ(state_.notices.size(), 1u);
  EXPECT_TRUE(state_.notices[0].text.starts_with("Showing Map instead of Steps: "))
      << state_.notices[0].text;
  EXPECT_FALSE(state_.notices[0].error);
  state_.session.edit().view.id = "grid";
  state_.selection.has_checked_view = false;
  run();
  EXPECT_EQ(state_.session->view.id, "grid");
  EXPECT_EQ(state_.notices.size(), 1u);
}

// Models of other layouts have no configuration before their first run.
TEST_F(ModelSelectionTest, MapOfStartTokenIsReplacedByAlignment) {
  choose_model(state_, "numbers");
  state_.session.edit().view.id = "map";
  state_.selection.has_checked_view = false;
  run();
  EXPECT_EQ(state_.session->view.id, "alignment");
  for (const char* target : {"", "v"}) {  // a chosen map stays
    state_.session.edit().view.id = "map";
    state_.session.edit().run.target = target;
    state_.selection.has_checked_view = *target == 0;
    run();
    EXPECT_EQ(state_.session->view.id, "map");
  }
}

TEST_F(ModelSelectionTest, ExampleFillsEmptyViewUndoably) {
  int empty_views = 0;
  for (const View& v : views()) {
    state_.session.edit().view.id = v.id;
    state_.history.record(state_.session.snapshot(), 1);
    run();
    if (!offers_example(state_)) continue;
    ++empty_views;
    const Session empty = *state_.session;
    open_example(state_);
    run();
    EXPECT_EQ(v.objection(*state_.run.trace), "") << v.id;
    EXPECT_FALSE(offers_example(state_)) << v.id;
    state_.session = state_.history.undo();
    EXPECT_EQ(*state_.session, empty) << v.id;
  }
  EXPECT_GE(empty_views, 7);
}

TEST_F(ModelSelectionTest, SampleReplacesInput) {
  choose_model(state_, "numbers");
  const std::vector<const Sample*> samples = samples_for(model_card("numbers"));
  choose_sample(state_, *samples.at(1));
  EXPECT_EQ(state_.session->run.text, samples.at(1)->text);
  EXPECT_EQ(state_.session->run.model, "numbers");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
