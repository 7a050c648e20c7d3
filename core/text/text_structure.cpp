#include "core/text/text_structure.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

namespace attnscope {
namespace {

// A character and the token that it begins in.
struct PlacedCharacter {
  std::string_view bytes;
  Index token = 0;
};

std::size_t character_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

// `text`, the concatenation of `tokens`, must outlive the result.
std::vector<PlacedCharacter> characters(const std::vector<std::string>& tokens,
                                        const std::string& text) {
  std::vector<PlacedCharacter> result;
  std::size_t at = 0, end = 0, token = 0;
  while (at < text.size()) {
    while (end + tokens[token].size() <= at) end += tokens[token++].size();
    const std::size_t length = std::min(character_length(text[at]), text.size() - at);
    result.push_back({std::string_view(text).substr(at, length), static_cast<Index>(token)});
    at += length;
  }
  return result;
}

template <std::size_t n>
bool is_one_of(std::string_view character, const std::array<std::string_view, n>& list) {
  return std::ranges::find(list, character) != list.end();
}

bool is_blank(std::string_view c) {
  return c == " " || c == "\n" || c == "\t" || c == "\r";
}
bool ends_sentence(std::string_view c) {
  return is_one_of(
      c, std::array<std::string_view, 7>{".", "!", "?", "…", "\u3002", "\uFF01", "\uFF1F"});
}
bool closes(std::string_view c) {
  return is_one_of(
      c, std::array<std::string_view, 8>{")", "]", "}", "\"", "'", "\u201D", "\u2019", "»"});
}

// True if the full stop at `stop` ends an abbreviated name or title.
bool is_abbreviation(const std::vector<PlacedCharacter>& text, std::size_t stop) {
  if (text[stop].bytes != ".") return false;
  std::string word;
  for (std::size_t n = stop; n-- > 0 && text[n].bytes.size() == 1;) {
    const char c = text[n].bytes[0];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) break;
    word.insert(word.begin(), c);
  }
  constexpr std::array<std::string_view, 8> kTitles{"Mr",   "Mrs", "Ms", "Dr",
                                                    "Prof", "St",  "vs", "etc"};
  const bool capital = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z' && word != "I";
  return capital || is_one_of(std::string_view(word), kTitles);
}

std::vector<bool> sentence_ends(const std::vector<PlacedCharacter>& text) {
  std::vector<bool> ends(text.size(), false);
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (text[n].bytes == "\n" && n + 1 < text.size() && text[n + 1].bytes == "\n") ends[n] = true;
    if (!ends_sentence(text[n].bytes) || is_abbreviation(text, n)) continue;
    std::size_t last = n;
    while (last + 1 < text.size() &&
           (closes(text[last + 1].bytes) || ends_sentence(text[last + 1].bytes))) {
      ++last;
    }
    const bool wide = text[n].bytes.size() == 3 && text[n].bytes != "…";  // no space required
    if (wide || last + 1 == text.size() || is_blank(text[last + 1].bytes)) ends[last] = true;
  }
  return ends;
}

// Sentence of each token: the sentence of its first non-space character.
std::vector<Index> sentences(const std::vector<PlacedCharacter>& text, std::size_t tokens) {
  const std::vector<bool> ends = sentence_ends(text);
  std::vector<Index> of_token(tokens, -1);
  Index sentence = 0;
  bool has_ended = false;  // the sentence has ended; only blanks have followed
  for (std::size_t n = 0; n < text.size(); ++n) {
    if (has_ended && !is_blank(text[n].bytes)) {
      ++sentence;
      has_ended = false;
    }
    Index& token_sentence = of_token[static_cast<std::size_t>(text[n].token)];
    if (token_sentence < 0 && !is_blank(text[n].bytes)) token_sentence = sentence;
    has_ended |= ends[n];
  }
  for (std::size_t n = 0; n < tokens; ++n) {
    if (of_token[n] < 0) of_token[n] = n > 0 ? of_token[n - 1] : 0;
  }
  return of_token;
}

// Closing counterpart of an opening character; empty for other characters.
std::string_view counterpart(std::string_view c) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kPairs{
      {{"(", ")"}, {"[", "]"}, {"{", "}"}, {"\u201C", "\u201D"}, {"«", "»"}, {"\"", "\""}}};
  for (const auto& [open, close] : kPairs) {
    if (c == open) return close;
  }
  return {};
}

// Stack of open brackets, with lookup by closing character.
class OpenBrackets {
 public:
  void open(std::size_t character, std::string_view closer) {
    by_closer_[closer].push_back({open_.size(), character});
    open_.push_back(character);
  }
  // Closes the innermost match and discards unmatched brackets inside it; nullopt without a match.
  std::optional<std::size_t> close(std::string_view closer) {
    const auto found = by_closer_.find(closer);
    if (found == by_closer_.end()) return std::nullopt;
    std::vector<Opener>& openers = found->second;
    const auto is_closed = [&](const Opener& p) {
      return p.depth >= open_.size() || open_[p.depth] != p.character;
    };
    while (!openers.empty() && is_closed(openers.back())) openers.pop_back();
    if (openers.empty()) return std::nullopt;
    const Opener innermost = openers.back();
    openers.pop_back();
    open_.resize(innermost.depth);
    return innermost.character;
  }

 private:
  struct Opener {
    std::size_t depth, character;
  };
  std::vector<std::size_t> open_;  // indices of opening characters, outermost first
  std::map<std::string_view, std::vector<Opener>> by_closer_;
};

// Pairs of matching opening and closing characters, ordered by opening character.
std::vector<std::pair<std::size_t, std::size_t>> matching_pairs(
    const std::vector<PlacedCharacter>& text) {
  OpenBrackets open;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const std::string_view closer = counterpart(text[n].bytes);
    if (const auto opener = open.close(text[n].bytes)) {
      pairs.emplace_back(*opener, n);
    } else if (!closer.empty()) {
      open.open(n, closer);
    }
  }
  std::ranges::sort(pairs);
  return pairs;
}

void add_brackets(const std::vector<PlacedCharacter>& text, TextStructure& structure) {
  const auto pairs = matching_pairs(text);
  for (const auto& [open, close] : pairs) {
    if (text[open].token != text[close].token) {
      structure.brackets.emplace_back(text[open].token, text[close].token);
    }
  }
  structure.enclosing.assign(static_cast<std::size_t>(structure.tokens()), -1);
  // Outer pairs come first, so that inner pairs overwrite them.
  for (const auto& [open, close] : structure.brackets) {
    for (Index token = open + 1; token <= close; ++token) {
      structure.enclosing[static_cast<std::size_t>(token)] = open;
    }
  }
}

}  // namespace

TextStructure text_structure(const std::vector<std::string>& bytes) {
  std::string all;
  for (const std::string& token : bytes) all += token;
  const std::vector<PlacedCharacter> text = characters(bytes, all);
  TextStructure structure;
  structure.sentence = sentences(text, bytes.size());
  add_brackets(text, structure);
  return structure;
}

}  // namespace attnscope
