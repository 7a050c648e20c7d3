// Steps through UTF-8. Bytes that are no UTF-8 count as characters of their own (U+FFFD).
#pragma once

#include <string>
#include <string_view>

namespace attnscope::window {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // that it takes, at least 1
};

CodePoint code_point_at(std::string_view text, std::size_t at);  // at < text.size()
std::size_t next_character(std::string_view text, std::size_t at);
std::size_t previous_character(std::string_view text, std::size_t at);
std::string to_utf8(char32_t character);

}  // namespace attnscope::window
