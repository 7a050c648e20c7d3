#include "app/window/jobs/generation.h"

#include "app/window/actions/actions.h"
#include "app/window/error_text.h"
#include "core/figure/plain_text.h"
#include "core/view/next/next.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {

bool can_generate(const State& state) {
  return state.run.trace != nullptr && state.run.trace->logits.defined() &&
         !state.run.trace->tokens.empty() && !predicts_masked_tokens(*state.run.trace);
}

void generate_token(State& state) {
  if (!can_generate(state) || !state.is_current()) return;
  if (!shows_end(*state.run.trace, state.session->run)) {
    // First makes the run use the end of the text.
    state.session.edit().run.overlong = Overlong::Last;
    return;
  }
  try {
    const Index last = static_cast<Index>(state.run.trace->tokens.size()) - 1;
    const Trace& trace = *state.run.trace;
    const ContinuingToken next = sample_continuation(
        trace, last, next_settings(state.session->view), state.run.is_first_token);
    if (append_token(state.session.edit().run, trace, next.id)) {
      state.run.is_first_token = false;
      if (next.end_id >= 0) {
        state.notify("An end token was drawn (“" + token_label(trace, next.end_id) + "”, " +
                     percent(next.end_probability) +
                     ") and replaced by a text token, so that the text continues.");
      }
      state.text.scrolls_to_end = !state.edits_b();
      // The view Next shows the distribution after a pinned token, else after the new token.
      const ViewSettings& shown = state.session->view;
      if (shown.id == "next" && shown.pinned_query >= 0 && !shown.shows_found_pair()) {
        ViewSettings& view = state.session.edit().view;
        view.pinned_query = view.pinned_key = -1;
      }
      return;
    }
    state.notify(continues_past_end(trace) ? "The model ended the text here; Generate (" +
                                                 to_string(action("next_run").shortcuts.front()) +
                                                 ") continues past its end."
                                           : "The model ended the target here.");
  } catch (const std::exception& e) {  // logits are not finite
    state.report_error(error_text(e));
  }
  state.run.is_generating = false;
}

}  // namespace attnscope::window
