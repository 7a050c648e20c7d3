// Animation of a view's parameter.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

bool can_play(const State& state);
void toggle_play(State& state);
// True for integer parameters. A step ends the animation and is clamped to the range.
bool can_step(const State& state);
void step_by(State& state, int steps);
// Advances the animated parameter to state.seconds, wrapping around. Call before each frame; no
// effect without an animation.
void advance_play(State& state);

}  // namespace attnscope::window
