// Animation of a view's parameter.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

bool can_play(const State& state);
void toggle_play(State& state);
// True if the animated parameter is an integer. step_by() ends the animation and clamps the value.
bool can_step(const State& state);
void step_by(State& state, int steps);
// True if the animation adds to the picture step by step up to the parameter's default value, and
// has not reached this value. show_whole() ends the animation and restores the default.
bool shows_part(const State& state);
void show_whole(State& state);
// Sets the animated parameter for the time state.seconds; starts again after the end of the range.
// Call before each frame; no effect without an animation.
void advance_play(State& state);

}  // namespace attnscope::window
