#include "app/window/utf8.h"

#include <algorithm>

#include "core/text/unicode.h"

namespace attnscope::window {

CodePoint code_point_at(std::string_view text, std::size_t at) {
  constexpr char32_t kReplacement = 0xFFFD;
  const Character found = character_at(text, at);
  return {found.code < 0 ? kReplacement : static_cast<char32_t>(found.code), found.size};
}

std::size_t next_character(std::string_view text, std::size_t at) {
  return at < text.size() ? at + character_at(text, at).size : text.size();
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  // The longest character that ends here; an invalid byte is one character.
  for (std::size_t bytes = std::min<std::size_t>(at, 4); bytes > 1; --bytes) {
    if (character_at(text.substr(0, at), at - bytes).size == bytes) return at - bytes;
  }
  return at > 0 ? at - 1 : 0;
}

std::string to_utf8(char32_t character) {
  std::string text;
  append_character(text, static_cast<std::int32_t>(character));
  return text;
}

}  // namespace attnscope::window
