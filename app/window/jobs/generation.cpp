#include "app/window/jobs/generation.h"

#include "app/window/error_text.h"
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
    const std::int32_t token =
        sample_next_token(*state.run.trace, last, next_settings(state.session->view));
    if (append_token(state.session.edit().run, *state.run.trace, token)) {
      state.text.scrolls_to_end = !state.edits_b();
      // The view Next shows the distribution after a pinned token, else after the new token.
      if (state.session->view.id == "next" && state.session->view.pinned_query >= 0) {
        ViewSettings& view = state.session.edit().view;
        view.pinned_query = view.pinned_key = -1;
      }
      return;
    }
    state.notify("The model ends the text here.");
  } catch (const std::exception& e) {  // logits are not finite
    state.report_error(error_text(e));
  }
  state.run.is_generating = false;
}

}  // namespace attnscope::window
