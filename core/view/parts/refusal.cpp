#include "core/view/parts/refusal.h"

#include "core/base/error.h"
#include "core/view/parts/describe.h"

namespace attnscope {

std::string Refusal::sentence() const {
  return as_sentence(headline);
}

ViewLayout Refusal::message(Page& page) const {
  return page.message(headline, advice);
}

void Refusal::throw_if_refused() const {
  if (!headline.empty()) throw InputError(headline + ". " + advice);
}

std::function<std::string(const Trace&)> objection_to_all(Refusal (*check)(const Trace&,
                                                                           const AttentionTap&)) {
  return [check](const Trace& trace) {
    return objection_to_all(trace,
                            [&](const AttentionTap& tap) { return check(trace, tap).sentence(); });
  };
}

Refusal check_has_attention(const ViewInput& input) {
  if (!input.trace.tokens.empty() && !input.trace.attention.empty()) return {};
  const SelectedTap found = find_tap(input);
  return {found.headline.empty() ? "Nothing to show" : found.headline, found.advice};
}

}  // namespace attnscope
