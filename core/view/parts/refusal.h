// Reason why a view has nothing to show for a run, with advice.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

struct Refusal {
  std::string headline{}, advice{};  // both empty: the view has content

  explicit operator bool() const { return !headline.empty(); }
  std::string sentence() const;          // for View::objection
  ViewLayout message(Page& page) const;  // replaces the picture
  void throw_if_refused() const;         // InputError, for exports of numbers
};

// View::objection for views of heads: the refusal of the last head group if `check` refuses all.
std::function<std::string(const Trace&)> objection_to_all(Refusal (*check)(const Trace&,
                                                                           const AttentionTap&));

// Refusal of a run without tokens or attention.
Refusal check_has_attention(const ViewInput& input);

}  // namespace attnscope
