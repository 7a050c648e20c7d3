// Texts that name the terms of attention scores.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

struct TermText {
  const char *full, *brief;
};

// `is_mixed`: position vectors were added to the content.
TermText term_text(Term term, bool is_mixed);

// True if position vectors were added to the embeddings, so that the content term contains both.
bool has_positions_in_content(const Trace& trace, const AttentionTap& tap);

}  // namespace attnscope
