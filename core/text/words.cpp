#include "core/text/words.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/text/unicode.h"

namespace attnscope {
namespace {

// Letters of scripts without spaces between words.
bool is_unspaced(std::int32_t c) {
  const auto in_range = [c](std::int32_t first, std::int32_t last) {
    return c >= first && c <= last;
  };
  return in_range(0x0e00, 0x0eff) ||  // Thai, Lao
         in_range(0x1000, 0x109f) ||  // Myanmar
         in_range(0x1780, 0x17ff) ||  // Khmer
         in_range(0x3040, 0x30ff) ||  // Hiragana, Katakana
         in_range(0x3400, 0x9fff) ||  // Chinese characters
         in_range(0xf900, 0xfaff) ||  // CJK compatibility ideographs
         in_range(0xff66, 0xff9f) ||  // halfwidth Katakana
         in_range(0x20000, 0x3ffff);  // rarer Chinese characters
}

// Role of a grapheme cluster (a character with its accents) in a word.
enum class Kind { Space, Letter, Number, Connector, Apostrophe, Point, Other };

Kind character_kind(std::int32_t code) {
  constexpr std::int32_t kCurly = 0x2019;
  if (code == ' ') return Kind::Space;
  if (code == '_') return Kind::Connector;
  if (code == '\'' || code == kCurly) return Kind::Apostrophe;
  if (code == '.' || code == ',') return Kind::Point;
  switch (class_of(code)) {
    case CharacterClass::Letter:
      return is_unspaced(code) ? Kind::Other : Kind::Letter;
    case CharacterClass::Number:
      return Kind::Number;
    default:
      return Kind::Other;
  }
}

bool is_word_kind(Kind kind) {
  return kind == Kind::Letter || kind == Kind::Number || kind == Kind::Connector;
}

// Text without special tokens, by grapheme clusters.
class Text {
 public:
  explicit Text(std::string_view bytes) : starts_(cluster_starts(bytes)) {
    for (const std::size_t at : starts_)
      kinds_.push_back(character_kind(character_at(bytes, at).code));
    // Unlike Kind::Space, includes line ends and tabs, which never continue a word.
    for (std::size_t n = 0; n < starts_.size(); ++n) {
      spaces_.push_back(class_of(character_at(bytes, starts_[n]).code) == CharacterClass::Space);
    }
  }

  // True if the character at `byte` (> 0) continues the word before it.
  bool continues_word(std::size_t byte) const {
    const auto found = std::ranges::lower_bound(starts_, byte);
    if (found == starts_.end() || *found != byte) return true;  // inside a cluster
    const auto at = found - starts_.begin();
    const Kind before = kind(at - 1), after = kind(at);
    if (spaces_[static_cast<std::size_t>(at)]) return false;
    if (before == Kind::Space) return true;
    if (is_word_kind(before) && is_word_kind(after)) return true;
    return is_between(at, Kind::Apostrophe, Kind::Letter) ||
           is_between(at, Kind::Point, Kind::Number);
  }

 private:
  Kind kind(std::ptrdiff_t at) const {
    const bool inside = at >= 0 && at < static_cast<std::ptrdiff_t>(kinds_.size());
    return inside ? kinds_[static_cast<std::size_t>(at)] : Kind::Other;
  }
  // True if character `at` or the one before is a `mark` between two characters of kind `around`.
  bool is_between(std::ptrdiff_t at, Kind mark, Kind around) const {
    const auto is_mark = [&](std::ptrdiff_t n) {
      return kind(n) == mark && kind(n - 1) == around && kind(n + 1) == around;
    };
    return is_mark(at) || is_mark(at - 1);
  }

  std::vector<std::size_t> starts_;
  std::vector<Kind> kinds_;
  std::vector<bool> spaces_;
};

// True for a piece that ends its word with a trailing space: "low ".
bool ends_word(const std::string& piece) {
  return piece.ends_with(' ') && piece.find_first_not_of(' ') != piece.npos;
}

}  // namespace

std::vector<bool> begins_word(const std::vector<WordPiece>& pieces) {
  std::vector<bool> begins(pieces.size(), true);
  for (std::size_t first = 0; first < pieces.size();) {
    const auto is_separate = [&](std::size_t n) {
      return pieces[n].special || pieces[n].bytes.empty();
    };
    if (is_separate(first)) {
      ++first;
      continue;
    }
    std::size_t last = first;
    std::string bytes;
    while (last < pieces.size() && !is_separate(last)) bytes += pieces[last++].bytes;
    const Text text(bytes);
    std::size_t at = 0;
    for (std::size_t n = first; n < last; ++n) {
      if (at > 0) begins[n] = ends_word(pieces[n - 1].bytes) || !text.continues_word(at);
      at += pieces[n].bytes.size();
    }
    first = last;
  }
  return begins;
}

}  // namespace attnscope
