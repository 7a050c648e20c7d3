#include "core/text/byte_alphabet.h"

#include <array>

namespace attnscope {
namespace {

bool is_unmapped(int byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr int kMaxCode = 0x100 + 67;  // 68 bytes are remapped

struct Alphabet {
  std::array<std::string, 256> text;
  std::array<int, kMaxCode + 1> byte;

  Alphabet() {
    byte.fill(-1);
    int next = 0x100;
    for (int b = 0; b < 256; ++b) {
      const int code = is_unmapped(b) ? b : next++;
      byte[static_cast<std::size_t>(code)] = b;
      std::string& letter = text[static_cast<std::size_t>(b)];
      if (code < 0x80) {
        letter = static_cast<char>(code);
      } else {
        letter = {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
      }
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += alphabet().text[static_cast<unsigned char>(c)];
  return text;
}

const std::string& byte_letter(char byte) {
  return alphabet().text[static_cast<unsigned char>(byte)];
}

std::optional<std::string> from_byte_alphabet(std::string_view text) {
  const Alphabet& letters = alphabet();
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    int code = static_cast<unsigned char>(text[at]);
    if (code >= 0x80) {  // letters of the alphabet have at most two bytes
      if (code < 0xc2 || code > 0xdf || at + 1 == text.size()) return std::nullopt;
      const int second = static_cast<unsigned char>(text[++at]);
      if ((second & 0xc0) != 0x80) return std::nullopt;
      code = (code & 0x1f) << 6 | (second & 0x3f);
    }
    const int byte = code > kMaxCode ? -1 : letters.byte[static_cast<std::size_t>(code)];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace attnscope
