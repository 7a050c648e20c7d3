#include "core/text/splitting.h"

#include <array>

#include "core/text/unicode.h"

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 7> kContractions{"'s", "'t",  "'re", "'ve",
                                                        "'m", "'ll", "'d"};

CharacterClass class_at(std::string_view text, std::size_t at, std::size_t& size) {
  const auto byte = static_cast<unsigned char>(text[at]);
  size = 1;
  if (byte < 0x80) {  // most of most texts
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') return CharacterClass::Letter;
    if (byte >= '0' && byte <= '9') return CharacterClass::Number;
    if (byte == ' ' || (byte >= 9 && byte <= 13)) return CharacterClass::Space;
    return CharacterClass::Other;
  }
  const Character c = character_at(text, at);
  size = c.size;
  return class_of(c.code);
}

// The end of the run of one class that begins at `at`; `last` is where its last character begins.
std::size_t run_end(std::string_view text, std::size_t at, CharacterClass which,
                    std::size_t& last) {
  std::size_t size = 0;
  last = at;
  while (at < text.size() && class_at(text, at, size) == which) {
    last = at;
    at += size;
  }
  return at;
}

std::size_t piece_size(std::string_view text) {
  for (const std::string_view ending : kContractions) {
    if (text.starts_with(ending)) return ending.size();
  }
  std::size_t size = 0, last = 0;
  const CharacterClass first = class_at(text, 0, size);
  if (first != CharacterClass::Space) return run_end(text, 0, first, last);
  if (text[0] == ' ' && text.size() > 1) {
    const CharacterClass next = class_at(text, 1, size);
    if (next != CharacterClass::Space) return run_end(text, 1, next, last);
  }
  // Of several spaces before a word the last one is left to the word.
  const std::size_t end = run_end(text, 0, CharacterClass::Space, last);
  return end == text.size() || last == 0 ? end : last;
}

}  // namespace

void split_as_gpt2(std::string_view text, const std::function<void(std::string_view)>& piece) {
  while (!text.empty()) {
    const std::size_t size = piece_size(text);
    piece(text.substr(0, size));
    text.remove_prefix(size);
  }
}

}  // namespace attnscope
