// How well a run foresees its tokens, as facts in tables: "12.3", or "1.02, sees them" where
// attention looks ahead; a dash where nothing is known.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

std::string perplexity_words(const Trace& trace);
std::string bits_per_token_words(const Trace& trace);
std::string bits_per_byte_words(const Trace& trace);

}  // namespace attnscope
