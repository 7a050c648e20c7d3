// Prediction quality of a run as table entries: "12.3"; "1.02, leaks targets" if attention leaks
// future tokens; a dash if unknown.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

std::string perplexity_words(const Trace& trace);
std::string bits_per_token_words(const Trace& trace);
std::string bits_per_byte_words(const Trace& trace);

}  // namespace attnscope
