// The query-key pair that a single-pair view shows, its labels and positions.
#pragma once

#include "core/view/view.h"

namespace attnscope {

struct Pair {
  Index query = 0, key = 0;
};

// The hovered pair, else the pinned one, else the last query. A missing key defaults to the one
// with the largest weight. An index of -1 counts as missing.
Pair focus_of(const ViewInput& input, const AttentionTap& tap, Index head,
              const std::optional<Pair>& hovered = std::nullopt);

// Token that a single-query view shows, as an index into the trace's tokens: the pinned token, else
// the first masked one, else the last.
Index selected_position(const ViewSettings& settings, const Trace& trace);
// The same if ViewSettings::pinned_query is a row of `tap`.
Index selected_position(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// Attention weights of one row; derives that row alone if the map was not stored.  [L_k]
Tensor attention_row(const AttentionTap& tap, Index head, Index query);

// Label of a query row or key column: "␣boat", or "−3 ␣boat" for a remembered row.
std::string query_label(const Trace& trace, const AttentionTap& tap, Index query);
std::string key_label(const Trace& trace, const AttentionTap& tap, Index key);

// Position of a query or key as the positional encoding sees it.
Index query_position(const AttentionTap& tap, Index query);
Index key_position(const AttentionTap& tap, Index head, Index key);

}  // namespace attnscope
