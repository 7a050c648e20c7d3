// "Surprise me": goes to the next pair of words in which something memorable happens, and says what
// (core/experiment/striking.h). They are looked for in the background: what takes less than a blink
// is there at once.
#pragma once

#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Why there is nothing to be surprised by; empty: there is.
std::string surprise_refusal(const State& state);

// Through the run's pairs, then from the first again. A view that shows no pairs gives way to Map.
void surprise(State& state);

// The pair that it went to last, while that is what is looked at; else null.
const StrikingPair* noticed(const State& state);

// Has what a fresh start shows open on the most striking pair, where it has one: no step to undo.
void open_striking(State& state);

// Takes what was found; whether there is something new to draw. Before each frame.
bool take_surprises(State& state);

}  // namespace attnscope::window
