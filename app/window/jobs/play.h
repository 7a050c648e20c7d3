// Play: one of the view's numbers runs on by itself.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

bool can_play(const State& state);
void toggle_play(State& state);
// Moves the number on to where it is at state.seconds, from its end back to its start. Before each
// frame; does nothing unless it plays.
void advance_play(State& state);

}  // namespace attnscope::window
