#include "app/window/tour.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "app/window/actions/actions.h"
#include "app/window/jobs/play.h"
#include "app/window/salient_pairs.h"
#include "app/window/window.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/run.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Tour, StartsAtFirstStartWithoutContent) {
  WindowOptions options;
  EXPECT_TRUE(starts_tour(options, false));
  EXPECT_FALSE(starts_tour(options, true));
  WindowOptions file_options, text_options, lesson_options;
  file_options.open = "attention.npy";
  text_options.text = "my own words";
  lesson_options.lesson = "rope";
  EXPECT_FALSE(starts_tour(file_options, false));
  EXPECT_FALSE(starts_tour(text_options, false));
  EXPECT_FALSE(starts_tour(lesson_options, false));
  file_options.tour = true;  // explicit request
  options.tour = false;
  EXPECT_TRUE(starts_tour(file_options, true));
  EXPECT_FALSE(starts_tour(options, false));
}

// State with a run of the default model.
class TourTest : public ::testing::Test {
 protected:
  TourTest() {
    state_.session.edit().run.text = "the old house stood by the sea and nobody knew why it was";
    run();
  }
  void run() {
    ExperimentRun runner(cpu_only(), model_store());
    state_.run.trace = runner.run(state_.session->run);
    state_.run.session = state_.session.snapshot();
  }
  // Advances the time. True if the cards changed.
  bool wait(double seconds) {
    state_.seconds += seconds;
    return update_tour(state_);
  }
  void point_at(double x, Index key) {
    state_.view.pointer = Point{x, 5};
    state_.view.hit = Hit{0, 0, 4, key};
    update_tour(state_);
  }
  void finish_search() {
    update_tour(state_);
    while (state_.run.salient_pairs.task != nullptr) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      apply_salient_pairs(state_);
    }
    update_tour(state_);
  }
  // Acts like a user up to the last card.
  void reach_drag() {
    start_tour(state_);
    finish_search();
    point_at(2, 2);
    EXPECT_TRUE(wait(1));
    state_.session.edit().run.text += " late";
    run();
    update_tour(state_);
    EXPECT_TRUE(wait(2));
    EXPECT_EQ(state_.tour.move, 2U);
  }

  State state_;
};

TEST_F(TourTest, CardsWaitForUserActions) {
  state_.view.pointer = Point{1, 5};
  start_tour(state_);
  EXPECT_EQ(state_.session->view.id, "flow");
  EXPECT_TRUE(state_.settings.tour_done);
  finish_search();
  EXPECT_TRUE(state_.view.play.is_on);
  EXPECT_EQ(state_.session->view.id, "flow");
  EXPECT_GE(state_.session->view.pinned_query, 0);  // follows the query of a salient pair
  EXPECT_FALSE(wait(60));                           // cards wait for moves, not for time

  point_at(1, 2);  // a pointer that already rested on a word does not count
  EXPECT_FALSE(wait(60));
  point_at(2, 2);
  EXPECT_GT(tour_deadline(state_), state_.seconds);
  EXPECT_FALSE(wait(0.1));
  point_at(3, 1);  // still moving
  EXPECT_FALSE(wait(0.4));
  EXPECT_TRUE(wait(0.2));
  EXPECT_EQ(state_.tour.move, 1U);

  state_.session.edit().run.text += " l";
  update_tour(state_);
  EXPECT_FALSE(wait(60));  // the run does not show the change yet
  run();
  update_tour(state_);
  EXPECT_FALSE(wait(0.5));
  state_.session.edit().run.text += "ate";  // still typing
  run();
  update_tour(state_);
  EXPECT_FALSE(wait(0.8));
  EXPECT_TRUE(wait(0.6));
  EXPECT_EQ(state_.tour.move, 2U);

  ASSERT_TRUE(state_.session->run.variant.has_value());
  EXPECT_EQ(state_.session->run.variant->id, "local");
  EXPECT_FALSE(wait(60));
  state_.session.edit().run.variant->values.set("window", Index{7});
  update_tour(state_);
  EXPECT_FALSE(wait(60));  // the run does not show the window yet
  run();
  for (int n = 0; n < 3; ++n) {  // the mouse button is down
    state_.seconds += 60;
    EXPECT_FALSE(update_tour(state_, true));
  }
  update_tour(state_);
  EXPECT_FALSE(wait(1));
  EXPECT_TRUE(wait(2));
  EXPECT_FALSE(state_.tour.is_on);
  EXPECT_FALSE(state_.view.play.is_on);
  EXPECT_FALSE(state_.session->run.variant.has_value());

  EXPECT_EQ(state_.session->view.id, "map");
  run();
  finish_search();
  const SalientPair* pair = shown_salient_pair(state_);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(state_.session->view.pinned_query, pair->query);
}

// The search for a pair and the animation may start late.
TEST_F(TourTest, PointingCountsBeforeAnimation) {
  const std::shared_ptr<const Trace> trace = std::exchange(state_.run.trace, nullptr);
  start_tour(state_);
  update_tour(state_);
  ASSERT_FALSE(state_.tour.has_played);
  state_.run.trace = trace;
  point_at(2, 2);  // the first position in the picture
  point_at(3, 2);
  EXPECT_TRUE(wait(1));
  EXPECT_EQ(state_.tour.move, 1U);
}

// The window may open under the pointer.
TEST_F(TourTest, PointingRequiresMovedPointer) {
  start_tour(state_);
  point_at(1, 2);
  EXPECT_FALSE(wait(60));
  point_at(3, 2);
  EXPECT_TRUE(wait(1));
}

TEST_F(TourTest, ActsEndAnimation) {
  start_tour(state_);
  finish_search();
  state_.seconds += 1;
  advance_play(state_);
  ASSERT_TRUE(shows_part(state_));
  update_tour(state_);
  ASSERT_TRUE(state_.view.play.is_on);
  point_at(2, 2);
  EXPECT_FALSE(state_.view.play.is_on);
  EXPECT_FALSE(shows_part(state_));
  toggle_play(state_);  // started by the user
  point_at(3, 2);
  EXPECT_TRUE(state_.view.play.is_on);
}

TEST_F(TourTest, AnimationPlaysOnce) {
  start_tour(state_);
  finish_search();
  state_.seconds += 1;
  advance_play(state_);
  wait(100);
  EXPECT_FALSE(state_.view.play.is_on);
  EXPECT_FALSE(shows_part(state_));
}

// A longer text adapts the window of the last card.
TEST_F(TourTest, AdaptedWindowIsNoAct) {
  reach_drag();
  RunSpec& run_spec = state_.session.edit().run;
  run_spec.text += " and later";
  run_spec.variant->values.set("window", Index{9});
  run();
  update_tour(state_);
  EXPECT_FALSE(wait(60));
  state_.session.edit().run.variant->values.set("window", Index{4});
  run();
  update_tour(state_);
  EXPECT_TRUE(wait(3));
}

TEST_F(TourTest, FinalNoticeStaysUntilNextAct) {
  start_tour(state_);
  finish_tour(state_);
  ASSERT_FALSE(state_.notices.empty());
  EXPECT_TRUE(state_.notices.back().until_act);
  EXPECT_FALSE(state_.notices.back().has_expired(1e6));
  EXPECT_NE(state_.notices.back().text.find("Map"), std::string::npos);
}

TEST_F(TourTest, ChangedWordNeedsNoPointing) {
  start_tour(state_);
  finish_search();
  state_.session.edit().run.text += " late";
  run();
  EXPECT_FALSE(wait(0.1));
  EXPECT_EQ(state_.tour.move, 1U);
  EXPECT_TRUE(wait(2));
  EXPECT_EQ(state_.tour.move, 2U);
}

TEST_F(TourTest, EndingRestoresVariant) {
  reach_drag();
  end_tour(state_);
  EXPECT_FALSE(state_.session->run.variant.has_value());
  EXPECT_EQ(tour_deadline(state_), -1);
}

TEST_F(TourTest, EndingShowsAllStepsOfPausedAnimation) {
  start_tour(state_);
  finish_search();
  ASSERT_TRUE(state_.view.play.is_on);
  state_.seconds += 1;
  advance_play(state_);
  toggle_play(state_);
  ASSERT_TRUE(shows_part(state_));
  end_tour(state_);
  EXPECT_FALSE(shows_part(state_));
}

TEST_F(TourTest, FinishingKeepsPairOfUnchangedText) {
  start_tour(state_);
  finish_search();
  const Index query = state_.session->view.pinned_query;
  finish_tour(state_);
  finish_search();
  EXPECT_EQ(state_.session->view.id, "map");
  EXPECT_EQ(state_.session->view.pinned_query, query);
  EXPECT_NE(shown_salient_pair(state_), nullptr);
}

TEST_F(TourTest, FinishingBeforeFirstRunWaitsForItsPair) {
  state_.run.trace = nullptr;
  start_tour(state_);
  finish_tour(state_);
  update_tour(state_);
  EXPECT_TRUE(state_.tour.opens_pair);
  run();
  finish_search();
  EXPECT_EQ(state_.session->view.id, "map");
  EXPECT_NE(shown_salient_pair(state_), nullptr);
}

TEST_F(TourTest, FinishingLeavesViewThatTheUserOpened) {
  reach_drag();
  finish_tour(state_);
  state_.session.edit().view.id = "grid";
  run();
  finish_search();
  EXPECT_EQ(state_.session->view.id, "grid");
  EXPECT_FALSE(state_.tour.opens_pair);
}

TEST_F(TourTest, NoKeyActsBehindCards) {
  const std::string text = state_.session->run.text;
  start_tour(state_);
  std::vector<KeyStroke> strokes = {{"", U's'}, {"", U'2'},     {"", U'b'}, {"", U' '},    {"Tab"},
                                    {"F5"},     {"p", 0, true}, {"Right"},  {"z", 0, true}};
  const Session before = *state_.session;
  run_shortcuts(state_, strokes, false);
  EXPECT_EQ(*state_.session, before);
  EXPECT_TRUE(state_.settings.panels);
  EXPECT_FALSE(state_.dialogs.open());
  EXPECT_FALSE(state_.presentation.is_on);
  strokes = {{"q", 0, true}};
  run_shortcuts(state_, strokes, false);
  EXPECT_TRUE(state_.requests.close);
  end_tour(state_);
  strokes = {{"", U'2'}};
  run_shortcuts(state_, strokes, false);
  EXPECT_EQ(state_.session->view.id, "grid");
}

TEST_F(TourTest, IsRefusedDuringLessonOrComparison) {
  EXPECT_EQ(tour_refusal(state_), "");
  state_.session.edit().b.emplace();
  EXPECT_NE(tour_refusal(state_), "");
  state_.session.edit().b.reset();
  Lesson lesson;
  lesson.steps.resize(1);
  start_lesson(state_, lesson);
  EXPECT_NE(tour_refusal(state_), "");
  EXPECT_FALSE(action("tour").enabled(state_));
}

TEST_F(TourTest, LessonEndsTour) {
  start_tour(state_);
  Lesson lesson;
  lesson.steps.resize(1);
  start_lesson(state_, lesson);
  EXPECT_TRUE(update_tour(state_));
  EXPECT_FALSE(state_.tour.is_on);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
