// Prediction quality of a run as table entries: "12.3"; "1.02, leaks targets" if attention leaks
// future tokens; a dash if unknown.
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace attnscope {

inline constexpr const char* kUnknownQuality = "–";

std::string describe_perplexity(const Trace& trace);
std::string describe_bits_per_token(const Trace& trace);
std::string describe_bits_per_byte(const Trace& trace);

}  // namespace attnscope
