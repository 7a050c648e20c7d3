#include "app/window/jobs/play.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/window/actions/actions.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

State state_with_view(const std::string& view) {
  Session session;
  session.view.id = view;
  State state(session);
  state.run.trace = std::make_shared<const Trace>();
  return state;
}

double query(const State& state) {
  return view_values(state.session->view, "rope").real("query");
}

TEST(Play, AdvancesParameterAndWraps) {
  State state = state_with_view("rope");
  const Animation animation = *view("rope").options.animation;
  state.seconds = 100;
  toggle_play(state);
  ASSERT_TRUE(state.view.play.is_on);
  advance_play(state);
  EXPECT_DOUBLE_EQ(query(state), animation.from);
  state.seconds += animation.seconds / 4;
  advance_play(state);
  EXPECT_NEAR(query(state), animation.from + (animation.to - animation.from) / 4, 1e-9);
  state.seconds += animation.seconds;
  advance_play(state);
  EXPECT_NEAR(query(state), animation.from + (animation.to - animation.from) / 4, 1e-9);
  toggle_play(state);
  state.seconds += 1;
  advance_play(state);
  EXPECT_FALSE(state.view.play.is_on);
  // Playback continues at the previous value.
  toggle_play(state);
  advance_play(state);
  EXPECT_NEAR(query(state), animation.from + (animation.to - animation.from) / 4, 1e-9);
}

// Steps stop at both ends, and stop playback.
TEST(Play, StepsManually) {
  State state = state_with_view("flow");
  const auto step = [&] { return view_values(state.session->view, "flow").integer("step"); };
  const auto last = static_cast<Index>(view("flow").options.animation->to);
  ASSERT_TRUE(can_step(state));
  EXPECT_EQ(step(), last);
  step_by(state, 1);
  EXPECT_EQ(step(), last);
  step_by(state, -2);
  EXPECT_EQ(step(), last - 2);
  toggle_play(state);
  step_by(state, 1);
  EXPECT_FALSE(state.view.play.is_on);
  EXPECT_EQ(step(), last - 1);
  step_by(state, -100);
  EXPECT_EQ(step(), 1);
  state.session.edit().view.id = "span";  // its parameter is continuous
  EXPECT_FALSE(can_step(state));
}

// Playback from the whole figure starts with the first step.
TEST(Play, FlowStartsAtFirstStep) {
  State state = state_with_view("flow");
  state.seconds = 10;
  toggle_play(state);
  advance_play(state);
  EXPECT_EQ(view_values(state.session->view, "flow").integer("step"), 1);
}

// Escape leaves a paused step: panels of the other steps are pale.
TEST(Play, EscapeShowsAllStepsOfFlow) {
  State state = state_with_view("flow");
  const auto step = [&] { return view_values(state.session->view, "flow").integer("step"); };
  const Index whole = step();
  EXPECT_FALSE(shows_part(state));
  step_by(state, -5);
  ASSERT_TRUE(shows_part(state));
  toggle_play(state);
  state.session.edit().view.pinned_query = 1;
  std::vector<KeyStroke> strokes = {{"Escape"}};
  run_shortcuts(state, strokes, false);
  EXPECT_EQ(step(), whole);
  EXPECT_FALSE(state.view.play.is_on);
  EXPECT_FALSE(shows_part(state));
  EXPECT_EQ(state.session->view.pinned_query, 1);  // unpinned by the next Escape
  state.session.edit().view.id = "rope";           // its animation adds nothing to a picture
  toggle_play(state);
  EXPECT_FALSE(shows_part(state));
}

TEST(Play, IsOneUndoStep) {
  State state = state_with_view("flow");
  state.history = History(state.session.snapshot());
  const Session before = *state.session;
  toggle_play(state);
  for (int n = 0; n < 7; ++n) {  // steps too far apart to merge by time
    state.seconds += 3;
    advance_play(state);
    state.history.record(state.session.snapshot(), state.seconds);
  }
  EXPECT_NE(*state.session, before);
  EXPECT_EQ(*state.history.undo(), before);
  EXPECT_FALSE(state.history.can_undo());
}

TEST(Play, StopsWithItsView) {
  State state = state_with_view("rope");
  toggle_play(state);
  state.session.edit().view.id = "map";
  advance_play(state);
  EXPECT_FALSE(state.view.play.is_on);
  EXPECT_FALSE(can_play(state));
  toggle_play(state);
  EXPECT_FALSE(state.view.play.is_on);
  state.session.edit().view.id = "span";
  EXPECT_TRUE(can_play(state));
  state.run.trace = nullptr;
  EXPECT_FALSE(can_play(state));
}

TEST(Play, EveryAnimationHasParameterOfItsView) {
  for (const View& v : views()) {
    if (!v.options.animation) continue;
    const auto parameter =
        std::find_if(v.options.parameters.begin(), v.options.parameters.end(),
                     [&](const Parameter& p) { return p.key == v.options.animation->key; });
    ASSERT_NE(parameter, v.options.parameters.end()) << v.id;
    EXPECT_TRUE(parameter->kind == Parameter::Kind::Real ||
                parameter->kind == Parameter::Kind::Integer);
    EXPECT_NE(v.options.animation->from, v.options.animation->to);
    EXPECT_GE(v.options.animation->from, parameter->limits.min);
    EXPECT_LE(v.options.animation->to, parameter->limits.max);
    EXPECT_GT(v.options.animation->seconds, 0);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
