#include <algorithm>
#include <cstdio>

#include "core/text/tokenizer.h"
#include "core/text/unicode.h"

namespace attnscope {
namespace {

std::string format_number(const char* format, int number) {
  char text[16];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(number));
  return text;
}

constexpr const char* kBetweenNumbers = " ";

// True if all characters are white space, which an empty label would show.
bool is_white(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes, at);
    if (!is_white_space(c.code)) return false;
    at += c.size;
  }
  return true;
}

// `in_blank`: the character belongs to a token of white space.
std::string visible_character(std::string_view bytes, const Character& c, bool in_blank) {
  if (c.code < 0) return format_number("0x%02X", static_cast<unsigned char>(bytes[0]));
  if (c.code == '\n') return "⏎";
  if (c.code == '\t') return "⇥";
  if (is_control(c.code) || (in_blank && c.code != ' ')) {
    return format_number(c.code < 0x80 ? "0x%02X" : "U+%04X", c.code);
  }
  return std::string(bytes);
}

}  // namespace

std::string visible(std::string_view bytes) {
  if (bytes.empty()) return "∅";
  const std::size_t word = std::min(bytes.find_first_not_of(' '), bytes.size());
  const std::size_t last = bytes.find_last_not_of(' ');
  const std::size_t word_end = last == std::string_view::npos ? 0 : last + 1;
  std::string text;
  const bool in_blank = is_white(bytes);
  bool after_number = false;  // consecutive numbers are separated by spaces
  for (std::size_t at = 0; at < bytes.size();) {
    const Character c = character_at(bytes, at);
    const bool is_plain = c.code == '\n' || c.code == '\t' || c.code == ' ';
    const bool is_number = c.code < 0 || (!is_plain && (in_blank || is_control(c.code)));
    if (is_number && after_number) text += kBetweenNumbers;
    after_number = is_number;
    if (c.code == ' ' && (at < word || at >= word_end)) {
      text += kSpaceMarker;
    } else {
      text += visible_character(bytes.substr(at, c.size), c, in_blank);
    }
    at += c.size;
  }
  return text;
}

std::string without_space_markers(std::string_view text) {
  constexpr std::string_view kOpen = "“", kClose = "”";
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t first = std::min(text.find(kSpaceMarker, at), text.size());
    result += text.substr(at, first - at);
    at = first;
    while (text.substr(at).starts_with(kSpaceMarker)) at += kSpaceMarker.size();
    if (at == first) continue;
    const std::string_view before = text.substr(0, first), after = text.substr(at);
    const bool follows = !before.empty() && !before.ends_with(' ') && !before.ends_with(kOpen);
    const bool precedes = !after.empty() && !after.starts_with(' ') && !after.starts_with(kClose);
    if (follows && precedes) result += ' ';
    if (!follows && !precedes) result += text.substr(first, at - first);
  }
  return result;
}

}  // namespace attnscope
