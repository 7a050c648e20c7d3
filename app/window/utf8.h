// Iteration over UTF-8. Invalid bytes count as single characters (U+FFFD).
#pragma once

#include <string>
#include <string_view>

namespace attnscope::window {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // length, at least 1
};

CodePoint code_point_at(std::string_view text, std::size_t offset);  // offset < text.size()
std::size_t next_character(std::string_view text, std::size_t offset);
std::size_t previous_character(std::string_view text, std::size_t offset);
// Start of the next or previous grapheme cluster, such as a letter with its accents.
std::size_t next_cluster(std::string_view text, std::size_t offset);
std::size_t previous_cluster(std::string_view text, std::size_t offset);
std::string to_utf8(char32_t character);

}  // namespace attnscope::window
