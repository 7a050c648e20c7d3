// Play: one of the view's numbers runs on by itself.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

bool can_play(const State& state);
void toggle_play(State& state);
// Whether the number goes by steps, which can be taken one by one; and one of them, which ends the
// playing. It stops at either end.
bool can_step(const State& state);
void step_by(State& state, int steps);
// Moves the number on to where it is at state.seconds, from its end back to its start. Before each
// frame; does nothing unless it plays.
void advance_play(State& state);

}  // namespace attnscope::window
