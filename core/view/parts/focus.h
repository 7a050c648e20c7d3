// The query-key pair that a single-pair view shows, its labels and positions.
#pragma once

#include "core/view/view.h"

namespace attnscope {

struct Pair {
  Index query = 0, key = 0;
};

// The hovered pair, or else the pinned pair. A missing query (-1) becomes the last query, and a
// missing key the key with the largest weight.
Pair focus_of(const ViewInput& input, const AttentionTap& tap, Index head,
              const std::optional<Pair>& hovered = std::nullopt);

// Index of the token that a single-query view shows: the pinned token, else the first masked token,
// else the last token.
Index selected_position(const ViewSettings& settings, const Trace& trace);
// The same for views whose ViewSettings::pinned_query is a row of `tap` instead of a token.
Index selected_position(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap);

// Attention weights of one row; computes this row alone if the map was not stored.  [L_k]
Tensor attention_row(const AttentionTap& tap, Index head, Index query);

// Label of a query row or key column: "␣boat", or "−3 ␣boat" for a remembered row.
std::string query_label(const Trace& trace, const AttentionTap& tap, Index query);
std::string key_label(const Trace& trace, const AttentionTap& tap, Index key);

// Position of a query or key as the positional encoding sees it.
Index query_position(const AttentionTap& tap, Index query);
Index key_position(const AttentionTap& tap, Index head, Index key);

}  // namespace attnscope
