// Text from files and models, made safe for terminals.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

inline constexpr std::size_t kMaxMessage = 500;  // characters of a message

// The text without control sequences: control characters except line feeds and tabs, and invalid
// bytes, become "\x1b"; characters that reorder or break lines become "\u202e".
std::string terminal_text(std::string_view text);

// terminal_text() in one line of at most kMaxMessage characters; "…" replaces the middle of longer
// ones.
std::string terminal_line(std::string_view text);

}  // namespace attnscope
