#include "core/view/parts/first_token.h"

#include "core/experiment/head_table.h"
#include "core/view/parts/range.h"

namespace attnscope {

std::optional<FirstTokenShare> first_token_share(const AttentionTap& tap, Index head) {
  constexpr Index kFirstQuery = 1;  // the first query has no other key in a causal map
  const Index column = first_token_column(tap);
  const bool is_one_text = tap.query_rows.stream == tap.key_rows.stream;
  if (!tap.stores_map() || tap.result.device || !is_one_text || column < 0 ||
      tap.queries() <= kFirstQuery || is_signed(tap, head)) {
    return std::nullopt;
  }
  const Tensor weights = tap.attention(head);
  const Pattern& pattern = *tap.result.pattern;
  const Index pattern_head = pattern.heads() > 1 ? head : 0;
  double sum = 0, equal_sum = 0;
  for (Index i = kFirstQuery; i < tap.queries(); ++i) {
    sum += static_cast<double>(weights(i, column));
    if (pattern.allowed(pattern_head, i, column)) {
      equal_sum += 1 / static_cast<double>(pattern.row_size(pattern_head, i));
    }
  }
  const auto count = static_cast<double>(tap.queries() - kFirstQuery);
  return FirstTokenShare{sum / count, equal_sum / count};
}

}  // namespace attnscope
