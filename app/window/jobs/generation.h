// A text that goes on by what the model foresees: token by token, each a change of the experiment.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// Whether a next token can be drawn from what is shown.
bool can_go_on(const State& state);

// Draws the next token as the view Next is set and puts it behind the text; where the trace is
// older than the experiment nothing happens yet. Ends the generation, with a notice, where the
// model ends the text.
void go_on(State& state);

}  // namespace attnscope::window
