#include "core/trace/key_token.h"

namespace attnscope {

Index key_token(const Trace& trace, const AttentionTap& tap, Index column) {
  if (tap.result.columns.empty()) return trace.token_index(tap.key_rows, tap.keys(), column);
  Index first = 0;
  for (const auto& [kind, count] : tap.result.columns) {
    if (column < first + count) {
      return kind == KeyKind::Token ? trace.token_index(tap.key_rows, count, column - first) : -1;
    }
    first += count;
  }
  return -1;
}

}  // namespace attnscope
