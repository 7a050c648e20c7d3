#include "core/text/utf8_stream.h"

#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of a character with this first byte; 0 if invalid.
std::size_t expected_size(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

// True if more bytes could complete a valid character.
bool may_continue(std::string_view bytes) {
  const std::size_t size = expected_size(static_cast<unsigned char>(bytes[0]));
  if (bytes.size() >= size) return false;
  // Tries the lowest and highest byte as filler: some first bytes restrict the second byte.
  for (const char filler : {'\x80', '\xBF'}) {
    std::string whole(bytes);
    whole.resize(size, filler);
    if (character_at(whole, 0).code >= 0) return true;
  }
  return false;
}

}  // namespace

std::string Utf8Stream::push(std::string_view bytes) {
  pending_ += bytes;
  std::string text;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const std::string_view rest = std::string_view(pending_).substr(at);
    const Character character = character_at(rest, 0);
    if (character.code < 0 && may_continue(rest)) break;
    text += character.code < 0 ? kReplacement : rest.substr(0, character.size);
    at += character.size;
  }
  pending_.erase(0, at);
  return text;
}

std::string Utf8Stream::finish() {
  std::string text;
  for (std::size_t n = 0; n < pending_.size(); ++n) text += kReplacement;
  pending_.clear();
  return text;
}

}  // namespace attnscope
