#include "app/window/jobs/play.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attnscope::window {
namespace {

std::optional<Animation> animation(const State& state) {
  return view_controls(state.session->view, state.run.trace.get()).animation;
}

// The parameter's value, or the start of the range if the value is unset or outside the range.
double current_value(const State& state, const Animation& a) {
  const Values values = view_values(state.session->view, state.session->view.id);
  if (!values.has(a.key)) return a.from;
  const Value& value = values.all().find(a.key)->second;
  const double number = std::holds_alternative<Index>(value)
                            ? static_cast<double>(std::get<Index>(value))
                            : std::get<double>(value);
  return number >= std::min(a.from, a.to) && number <= std::max(a.from, a.to) ? number : a.from;
}

// The shown view's parameter; must exist.
const Parameter& parameter_of(const State& state, const Animation& a) {
  return *std::ranges::find(view(state.session->view.id).options.parameters, a.key,
                            &Parameter::key);
}

}  // namespace

bool can_play(const State& state) {
  return state.run.trace != nullptr && animation(state).has_value();
}

void toggle_play(State& state) {
  PlayState& play = state.view.play;
  if (play.is_on) {
    play.is_on = false;
  } else if (can_play(state)) {
    play = {true, state.session->view.id, current_value(state, *animation(state)), state.seconds,
            false};
  }
}

bool can_step(const State& state) {
  if (!can_play(state)) return false;
  return parameter_of(state, *animation(state)).kind == Parameter::Kind::Integer;
}

void step_by(State& state, int steps) {
  if (!can_step(state)) return;
  state.view.play.is_on = false;
  const Animation a = *animation(state);
  const double next = std::clamp(current_value(state, a) + steps, a.from, a.to);
  set_view_value(state.session.edit().view, state.session.edit().view.id, a.key,
                 static_cast<Index>(std::llround(next)));
}

bool shows_part(const State& state) {
  if (!can_step(state)) return false;
  const Animation a = *animation(state);
  const bool builds_up = std::get<Index>(parameter_of(state, a).initial) == std::llround(a.to);
  return builds_up && current_value(state, a) < a.to;
}

void show_whole(State& state) {
  if (!shows_part(state)) return;
  const Animation a = *animation(state);
  state.view.play.is_on = false;
  set_view_value(state.session.edit().view, state.session->view.id, a.key,
                 parameter_of(state, a).initial);
}

void advance_play(State& state) {
  PlayState& play = state.view.play;
  if (!play.is_on) return;
  if (!can_play(state) || state.session->view.id != play.view) {
    play.is_on = false;
    return;
  }
  const Animation a = *animation(state);
  const double elapsed = std::max(0.0, state.seconds - play.seconds);
  play.seconds = state.seconds;
  const double cycles = (play.value - a.from) / (a.to - a.from) + elapsed / a.seconds;
  play.value = a.from + (cycles - std::floor(cycles)) * (a.to - a.from);
  const bool is_integer = parameter_of(state, a).kind == Parameter::Kind::Integer;
  const bool was_recorded = same_session(state.session.snapshot(), state.history.current());
  set_view_value(
      state.session.edit().view, play.view, a.key,
      is_integer ? Value(static_cast<Index>(std::llround(play.value))) : Value(play.value));
  if (same_session(state.session.snapshot(), state.history.current())) return;
  if (std::exchange(play.is_recorded, true) && was_recorded) {
    state.history.amend(state.session.snapshot());
  }
}

}  // namespace attnscope::window
