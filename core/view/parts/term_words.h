// Names of the terms of attention scores.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

struct TermWords {
  const char *full, *brief;
};

// `mixed`: positions were added to the content.
TermWords term_words(Term term, bool mixed);

// True if position vectors were added to the embeddings, so that the content term contains both.
bool has_positions_in_content(const Trace& trace, const AttentionTap& tap);

}  // namespace attnscope
