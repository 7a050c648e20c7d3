#include "app/window/surprise.h"

#include "core/base/error.h"
#include "core/view/view.h"

namespace attnscope::window {

namespace {

constexpr std::size_t kMostSurprises = 24;

// Those of the run that is shown, looked for once.
Surprises& surprises_of(State& state) {
  Surprises& found = state.surprises;
  if (found.of.lock() == state.trace) return found;
  found = {state.trace, {}, 0};
  try {
    found.pairs = striking_pairs(*state.trace, kMostSurprises);
  } catch (const InputError& e) {  // weights that were not kept
    state.complain(e.what());
  }
  return found;
}

void show_next(State& state, Surprises& found) {
  const StrikingPair& pair = found.pairs[found.next];
  found.next = (found.next + 1) % found.pairs.size();
  point_at(pair, state.trace->parts, state.experiment.view);
  // Where a pair can be seen.
  const std::string& now = state.experiment.view.id;
  if (now != "lines" && now != "scores" && now != "vectors") state.experiment.view.id = "map";
  state.say("Notice: " + sentence(pair) + " (" + place_words(state.trace->parts, pair.at) + ").");
}

}  // namespace

std::string surprise_refusal(const State& state) {
  if (state.trace == nullptr) return "There is no run yet.";
  return striking_refusal(*state.trace);
}

void surprise(State& state) {
  Surprises& found = surprises_of(state);
  if (found.pairs.empty()) {
    state.say("No word of this run looks at another one.");
    return;
  }
  show_next(state, found);
}

void open_striking(State& state) {
  if (!surprise_refusal(state).empty() || surprises_of(state).pairs.empty()) return;
  show_next(state, state.surprises);
  state.history = History(state.experiment);
}

}  // namespace attnscope::window
