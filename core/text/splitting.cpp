#include "core/text/splitting.h"

#include <algorithm>
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

// Of a contraction at the beginning, in letters of either case; 0: there is none.
std::size_t contraction_size(std::string_view text) {
  for (const std::string_view ending : kContractions) {
    const auto same = [](char a, char b) { return a == b || (a >= 'a' && (a ^ 0x20) == b); };
    if (text.size() >= ending.size() &&
        std::equal(ending.begin(), ending.end(), text.begin(), same)) {
      return ending.size();
    }
  }
  return 0;
}

bool is_line_end(char c) {
  return c == '\r' || c == '\n';
}

// Of white space at the beginning, by the last three alternatives.
std::size_t space_size(std::string_view text) {
  std::size_t last = 0;
  const std::size_t end = run_end(text, 0, CharacterClass::Space, last);
  const auto line_end = text.substr(0, end).find_last_of("\r\n");
  if (line_end != std::string_view::npos) return line_end + 1;
  return end == text.size() || last == 0 ? end : last;
}

std::size_t llama3_piece_size(std::string_view text, std::size_t digits) {
  if (const std::size_t size = contraction_size(text)) return size;
  std::size_t size = 0, last = 0;
  const CharacterClass first = class_at(text, 0, size);
  if (first == CharacterClass::Letter) return run_end(text, 0, first, last);
  if (first == CharacterClass::Number) {
    std::size_t end = 0;
    for (std::size_t n = 0; n < digits && end < text.size(); ++n) {
      if (class_at(text, end, size) != CharacterClass::Number) break;
      end += size;
    }
    return end;
  }
  const std::size_t after = run_end(text, size, CharacterClass::Letter, last);
  if (after > size && !is_line_end(text[0])) return after;  // a letter comes next
  const std::size_t mark = text[0] == ' ' ? 1 : 0;
  std::size_t end = run_end(text, mark, CharacterClass::Other, last);
  if (end == mark) return space_size(text);
  while (end < text.size() && is_line_end(text[end])) ++end;
  return end;
}

template <class SizeOf>
void split(std::string_view text, const std::function<void(std::string_view)>& piece,
           const SizeOf& size_of) {
  while (!text.empty()) {
    const std::size_t size = size_of(text);
    piece(text.substr(0, size));
    text.remove_prefix(size);
  }
}

}  // namespace

void split_as_gpt2(std::string_view text, const std::function<void(std::string_view)>& piece) {
  split(text, piece, piece_size);
}

void split_as_llama3(std::string_view text, std::size_t digits,
                     const std::function<void(std::string_view)>& piece) {
  split(text, piece, [digits](std::string_view rest) { return llama3_piece_size(rest, digits); });
}

void split_numbers(std::string_view text, const std::function<void(std::string_view)>& piece) {
  split(text, piece, [](std::string_view rest) {
    std::size_t size = 0, end = 0;
    while (end < rest.size() && class_at(rest, end, size) != CharacterClass::Number) end += size;
    if (end == 0) end = size;
    return end;
  });
}

}  // namespace attnscope
