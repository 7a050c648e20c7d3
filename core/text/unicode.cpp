#include "core/text/unicode.h"

#include <utf8proc.h>

namespace attnscope {

Character character_at(std::string_view text, std::size_t at) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (*bytes < 0x80) return {*bytes, 1};
  utf8proc_int32_t code = -1;
  const utf8proc_ssize_t remaining = static_cast<utf8proc_ssize_t>(text.size() - at);
  const utf8proc_ssize_t size = utf8proc_iterate(bytes, remaining, &code);
  if (size <= 0 || code < 0) return {};
  return {code, static_cast<std::size_t>(size)};
}

bool is_valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      ++at;
      continue;
    }
    const Character c = character_at(text, at);
    if (c.code < 0) return false;
    at += c.size;
  }
  return true;
}

namespace {

constexpr std::int32_t kInvalidByte = 0x110000;  // code of an invalid byte 0

}  // namespace

std::int32_t next_code(std::string_view text, std::size_t& at) {
  const Character c = character_at(text, at);
  const auto byte = static_cast<unsigned char>(text[at]);
  at += c.size;
  return c.code < 0 ? kInvalidByte + byte : c.code;
}

void append_character(std::string& text, std::int32_t code) {
  if (code >= 0 && code < 0x80) {
    text += static_cast<char>(code);
  } else if (code >= kInvalidByte) {
    text += static_cast<char>(code - kInvalidByte);
  } else {
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(code, bytes);
    text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
}

bool is_white_space(std::int32_t code) {
  switch (code) {
    case 0x85:
    case 0xa0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202f:
    case 0x205f:
    case 0x3000:
      return true;
    default:
      return code == ' ' || (code >= 9 && code <= 13) || (code >= 0x2000 && code <= 0x200a);
  }
}

CharacterClass class_of(std::int32_t code) {
  if (code < 0) return CharacterClass::Other;
  if (is_white_space(code)) return CharacterClass::Space;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterClass::Letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterClass::Number;
    default:
      return CharacterClass::Other;
  }
}

std::vector<std::size_t> cluster_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  std::int32_t before = -1;
  utf8proc_int32_t state = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool both_valid = before >= 0 && c.code >= 0;
    if (!both_valid) state = 0;
    if (!both_valid || utf8proc_grapheme_break_stateful(before, c.code, &state))
      starts.push_back(at);
    before = c.code;
    at += c.size;
  }
  return starts;
}

bool is_control(std::int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CO:
      return true;
    default:
      return false;
  }
}

}  // namespace attnscope
