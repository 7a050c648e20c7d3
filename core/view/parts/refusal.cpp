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

void Refusal::raise_for_numbers() const {
  if (!headline.empty()) throw InputError(headline + ". " + advice);
}

Refusal nothing_ran(const ViewInput& input) {
  if (!input.trace.tokens.empty() && !input.trace.attention.empty()) return {};
  const Found found = find_tap(input);
  return {found.headline.empty() ? "Nothing to show" : found.headline, found.advice};
}

}  // namespace attnscope
