#include "app/window/utf8.h"

#include <algorithm>

#include "core/text/unicode.h"

namespace attnscope::window {
namespace {

constexpr int kMaxCharacters = 16;  // longer clusters are split

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

}  // namespace

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

std::size_t next_cluster(std::string_view text, std::size_t offset) {
  std::size_t end = next_character(text, offset);
  if (end >= text.size() || (is_ascii(text[offset]) && is_ascii(text[end]))) return end;
  for (int i = 0; i < kMaxCharacters; ++i) end = next_character(text, end);
  const std::vector<std::size_t> starts = cluster_starts(text.substr(offset, end - offset));
  return starts.size() > 1 ? offset + starts[1] : end;
}

std::size_t previous_cluster(std::string_view text, std::size_t offset) {
  const std::size_t character = previous_character(text, offset);
  std::size_t begin = character;
  for (int i = 0; i < kMaxCharacters && begin > 0 && text[begin - 1] != '\n'; ++i) {
    begin = previous_character(text, begin);
  }
  const std::vector<std::size_t> starts = cluster_starts(text.substr(begin, offset - begin));
  return starts.empty() ? character : begin + starts.back();
}

std::string to_utf8(char32_t character) {
  std::string text;
  append_character(text, static_cast<std::int32_t>(character));
  return text;
}

}  // namespace attnscope::window
