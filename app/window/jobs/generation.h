// Text generation: each predicted token is a change of the session.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// True if the shown run predicts a next token.
bool can_generate(const State& state);

// Samples a token with the settings of the view Next and appends it to the text; waits while the
// trace is older than the session. Stops with a notice at the end-of-text token.
void generate_token(State& state);

}  // namespace attnscope::window
