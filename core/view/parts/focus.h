// Which pair a view is about that shows one.
#pragma once

#include "core/view/view.h"

namespace attnscope {

struct Pair {
  Index query = 0, key = 0;
};

// The hovered pair, else the pinned one, else the last query; where no key is named, the one that
// the query attends to most. A hovered or pinned query or key may be -1: not named.
Pair focus_of(const ViewInput& input, const AttentionTap& tap, Index head,
              const std::optional<Pair>& hovered = std::nullopt);

// Where a single query is shown, and what comes after it: the pinned one, else the first that is to
// be filled in, else the last. Of the trace's tokens.
Index shown_position(const ViewSettings& settings, const Trace& trace);
// The same where what is pinned is a row of the tap.
Index shown_position(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// The weights of one row, without the work for the others where they must be derived.  [L_k]
Tensor attention_row(const AttentionTap& tap, Index head, Index query);

// "␣boat": the token at a query's row, or what else a key column stands for: "−3 ␣boat" of a row
// that is remembered.
std::string query_label(const Trace& trace, const AttentionTap& tap, Index query);
std::string key_label(const Trace& trace, const AttentionTap& tap, Index key);

// Position of a query, and of a key column, as the encoding sees them.
Index query_position(const AttentionTap& tap, Index query);
Index key_position(const AttentionTap& tap, Index head, Index key);

}  // namespace attnscope
