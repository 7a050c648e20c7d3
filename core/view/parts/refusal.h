// Why a view has nothing to show of a run, and what to do about it.
#pragma once

#include "core/view/parts/page.h"

namespace attnscope {

struct Refusal {
  std::string headline{}, advice{};  // empty: there is something to show

  explicit operator bool() const { return !headline.empty(); }
  std::string sentence() const;          // for View::objection
  ViewLayout message(Page& page) const;  // in place of the picture
  void raise_for_numbers() const;        // InputError; nothing where there is something to show
};

// Of a run without tokens or attention.
Refusal nothing_ran(const ViewInput& input);

}  // namespace attnscope
