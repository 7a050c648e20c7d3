#include "core/text/terminal_text.h"

#include <cstdio>
#include <vector>

#include "core/text/unicode.h"

namespace attnscope {
namespace {

// Line and paragraph separators, and embeddings, overrides and isolates of writing directions.
bool reorders(std::int32_t code) {
  return (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool is_control_code(std::int32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

std::string escaped(const char* format, unsigned number) {
  char text[16];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

// The characters of the text, each with a form that terminals show.
std::vector<std::string> shown_characters(std::string_view text, bool keeps_lines) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool is_space = c.code == '\n' || c.code == '\t';
    if (is_space || (!keeps_lines && c.code == '\r')) {
      characters.emplace_back(keeps_lines ? text.substr(at, 1) : " ");
    } else if (c.code < 0) {
      characters.push_back(escaped("\\x%02x", static_cast<unsigned char>(text[at])));
    } else if (is_control_code(c.code)) {
      characters.push_back(escaped("\\x%02x", static_cast<unsigned>(c.code)));
    } else if (reorders(c.code)) {
      characters.push_back(escaped("\\u%04x", static_cast<unsigned>(c.code)));
    } else {
      characters.emplace_back(text.substr(at, c.size));
    }
    at += c.size;
  }
  return characters;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string result;
  for (const std::string& character : shown_characters(text, true)) result += character;
  return result;
}

std::string terminal_line(std::string_view text) {
  constexpr std::size_t kEnd = 200;  // characters kept of the end, where suggestions stand
  const std::vector<std::string> characters = shown_characters(text, false);
  // Escapes count with their length, so that a message of control characters is not longer.
  const auto length_of = [](const std::string& character) {
    return character[0] == '\\' ? character.size() : std::size_t{1};
  };
  std::size_t length = 0;
  for (const std::string& character : characters) length += length_of(character);
  std::size_t first = characters.size(), last = first;  // bounds of the omitted middle
  if (length > kMaxMessage) {
    length = 0;
    for (first = 0; length + length_of(characters[first]) <= kMaxMessage - kEnd - 1; ++first) {
      length += length_of(characters[first]);
    }
    length = 0;
    for (; length + length_of(characters[last - 1]) <= kEnd; --last) {
      length += length_of(characters[last - 1]);
    }
  }
  std::string result;
  for (std::size_t n = 0; n < first; ++n) result += characters[n];
  if (first < last) result += "…";
  for (std::size_t n = last; n < characters.size(); ++n) result += characters[n];
  return result;
}

}  // namespace attnscope
