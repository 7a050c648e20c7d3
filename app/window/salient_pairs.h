// "Show a strong pair": moves to the next salient pair of words and describes it
// (core/experiment/salient_pairs.h). The search runs in the background (salient_pair_tasks() in
// jobs/task_kinds.h); results of a fast search appear at once.
#pragma once

#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Reason why a search is impossible; empty if it is possible.
std::string salient_pair_refusal(const State& state);

// Shows the run's next pair, cyclically. Replaces a view that does not show pairs by Map.
void show_strong_pair(State& state);

// The last shown pair while the view still shows it; else null.
const SalientPair* shown_salient_pair(const State& state);

// Shows the most salient pair of a new session, if any, without an undo step.
void open_on_salient_pair(State& state);

// Searches the shown run in the background, replacing a running search.
void start_salient_pair_search(State& state, bool opens_session);
// Applies the results of a finished search. Returns true if something changed.
bool apply_salient_pairs(State& state);

}  // namespace attnscope::window
