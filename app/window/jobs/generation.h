// Text generation: appends each predicted token to the session's text.
#pragma once

#include "app/window/state.h"

namespace attnscope::window {

// True if the shown run predicts a next token.
bool can_generate(const State& state);

// Samples a token with the settings of the view Next and appends it to the text. Does nothing while
// the run of the session is pending. An end token stops the generation with a notice. An end token
// that would be the first generated token is replaced, also with a notice (sample_continuation()).
void generate_token(State& state);

}  // namespace attnscope::window
