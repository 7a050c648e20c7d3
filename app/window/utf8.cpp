#include "app/window/utf8.h"

#include <utf8proc.h>

#include <algorithm>

namespace attnscope::window {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The character at `at`; zero bytes if it is invalid.
CodePoint decode(std::string_view text, std::size_t at) {
  utf8proc_int32_t value = -1;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data() + at);
  const auto length = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4));
  const utf8proc_ssize_t used = utf8proc_iterate(bytes, length, &value);
  if (used <= 0) return {};
  return {static_cast<char32_t>(value), static_cast<std::size_t>(used)};
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const CodePoint found = decode(text, at);
  return found.bytes > 0 ? found : CodePoint{kReplacement, 1};
}

std::size_t next_character(std::string_view text, std::size_t at) {
  return at < text.size() ? at + code_point_at(text, at).bytes : text.size();
}

std::size_t previous_character(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  // The longest character that ends here; an invalid byte is one character.
  for (std::size_t bytes = std::min<std::size_t>(at, 4); bytes > 1; --bytes) {
    if (decode(text.substr(0, at), at - bytes).bytes == bytes) return at - bytes;
  }
  return at > 0 ? at - 1 : 0;
}

std::string to_utf8(char32_t character) {
  utf8proc_uint8_t bytes[4];
  const auto count = utf8proc_encode_char(static_cast<utf8proc_int32_t>(character), bytes);
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(count));
}

}  // namespace attnscope::window
