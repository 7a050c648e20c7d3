// What the terms of scores are called.
#pragma once

#include "core/trace/trace.h"

namespace attnscope {

struct TermWords {
  const char *full, *brief;
};

// mixed: content has positions in it.
TermWords term_words(Term term, bool mixed);

// Whether positions were added to what queries and keys are made of, and not told apart: the term
// of content is then of both.
bool has_positions_in_content(const Trace& trace, const AttentionTap& tap);

}  // namespace attnscope
