#include "app/window/utf8.h"

#include <algorithm>

#include "core/text/unicode.h"

namespace attnscope::window {

CodePoint code_point_at(std::string_view text, std::size_t offset) {
  constexpr char32_t kReplacement = 0xFFFD;
  const Character c = character_at(text, offset);
  return {c.code < 0 ? kReplacement : static_cast<char32_t>(c.code), c.size};
}

std::size_t next_character(std::string_view text, std::size_t offset) {
  return offset < text.size() ? offset + character_at(text, offset).size : text.size();
}

std::size_t previous_character(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  // The longest character that ends here; an invalid byte is one character.
  for (std::size_t bytes = std::min<std::size_t>(offset, 4); bytes > 1; --bytes) {
    if (character_at(text.substr(0, offset), offset - bytes).size == bytes) return offset - bytes;
  }
  return offset > 0 ? offset - 1 : 0;
}

std::string to_utf8(char32_t character) {
  std::string text;
  append_character(text, static_cast<std::int32_t>(character));
  return text;
}

}  // namespace attnscope::window
