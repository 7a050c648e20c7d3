#include "app/window/jobs/generation.h"

#include "core/view/next/next.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {

bool can_go_on(const State& state) {
  return state.trace != nullptr && state.trace->logits.defined() && !state.trace->tokens.empty() &&
         !fills_in_places(*state.trace);
}

void go_on(State& state) {
  if (!can_go_on(state) || !same_run(state.shown, state.experiment)) return;
  if (!shows_end(*state.trace, state.experiment)) {
    // The end of the text comes into sight first.
    state.experiment.overlong = Overlong::Last;
    return;
  }
  try {
    const Index last = static_cast<Index>(state.trace->tokens.size()) - 1;
    const std::int32_t token =
        drawn_token(*state.trace, last, next_settings(state.experiment.view));
    if (append_token(state.experiment, *state.trace, token)) {
      state.text.follow_end = !state.edits_other();
      return;
    }
    state.say("The model ends the text here.");
  } catch (const std::exception& e) {  // logits that are no numbers
    state.complain(e.what());
  }
  state.generating = false;
}

}  // namespace attnscope::window
