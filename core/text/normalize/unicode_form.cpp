// Uses utf8proc's tables of characters. utf8proc's functions for whole texts do not report which
// characters decomposition and composition add or remove.
#include <utf8proc.h>

#include <algorithm>

#include "core/text/normalize/normalizer.h"

namespace attnscope {
namespace {

struct Decomposed {
  std::int32_t code;
  int change;
  int combining;  // combining class; 0: a starter
};

int combining_class(std::int32_t code) {
  return utf8proc_get_property(code)->combining_class;
}

// True for characters that Hugging Face's tokenizers do not decompose, because their tables are
// those of an older Unicode.
bool is_newer(std::int32_t code) {
  struct CodeRange {
    std::int32_t first, last;
  };
  static constexpr CodeRange kNewer[] = {{0x32ff, 0x32ff},   {0xa7f2, 0xa7f4},   {0xab69, 0xab69},
                                         {0x10781, 0x107ba}, {0x11938, 0x11938}, {0x1e030, 0x1e06d},
                                         {0x1f16c, 0x1f16c}, {0x1fbf0, 0x1fbf9}};
  return std::ranges::any_of(
      kNewer, [code](const CodeRange& range) { return code >= range.first && code <= range.last; });
}

void add_decomposed(std::vector<Decomposed>& to, std::int32_t code, bool compatible) {
  constexpr std::int32_t kMaxCode = 0x10ffff;
  if (code < 0x80 || code > kMaxCode || is_newer(code)) {
    to.push_back({code, 0, combining_class(code)});
    return;
  }
  utf8proc_int32_t parts[32];
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                                      (compatible ? UTF8PROC_COMPAT : 0));
  const auto count = utf8proc_decompose_char(code, parts, 32, options, nullptr);
  for (utf8proc_ssize_t i = 0; i < count && i < 32; ++i) {
    to.push_back({parts[i], i > 0, combining_class(parts[i])});
  }
}

// Sorts runs of marks by combining class (canonical ordering).
void sort_marks(std::vector<Decomposed>& text) {
  for (auto first = text.begin(); first != text.end();) {
    if (first->combining == 0) {
      ++first;
      continue;
    }
    auto last = first;
    while (last != text.end() && last->combining != 0) ++last;
    std::stable_sort(first, last, [](const Decomposed& a, const Decomposed& b) {
      return a.combining < b.combining;
    });
    first = last;
  }
}

// Canonical composition of two characters; -1 if they do not compose.
std::int32_t compose_pair(std::int32_t a, std::int32_t b) {
  if (a < 0x20 || b < 0x80 || a > 0x10ffff || b > 0x10ffff) return -1;
  utf8proc_int32_t pair[2] = {a, b};
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  return utf8proc_normalize_utf32(pair, 2, options) == 1 ? pair[0] : -1;
}

// UAX 15, D117: composes characters with the last starter, unless one between them blocks it.
void compose(std::vector<Decomposed>& text) {
  std::vector<Decomposed> all;
  std::ptrdiff_t starter = -1;
  int last_class = -1;  // combining class of the last character after the starter; -1: none
  for (const Decomposed& next : text) {
    if (starter >= 0 && (last_class < next.combining)) {
      Decomposed& first = all[static_cast<std::size_t>(starter)];
      const std::int32_t composed = compose_pair(first.code, next.code);
      if (composed >= 0) {
        first.code = composed;
        first.change += next.change - 1;
        continue;
      }
    }
    if (next.combining == 0) {
      starter = static_cast<std::ptrdiff_t>(all.size());
      last_class = -1;
    } else {
      last_class = next.combining;
    }
    all.push_back(next);
  }
  text = std::move(all);
}

class UnicodeFormNormalizer final : public Normalizer {
 public:
  explicit UnicodeFormNormalizer(UnicodeForm form) : form_(form) {}
  void apply(AlignedText& text) const override { apply_unicode_form(text, form_); }

 private:
  UnicodeForm form_;
};

}  // namespace

void apply_unicode_form(AlignedText& text, UnicodeForm form) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::ranges::all_of(text.text(), is_ascii)) return;  // ASCII is normalized in every form
  std::vector<Decomposed> all;
  for (std::size_t at = 0; at < text.text().size();) {
    add_decomposed(all, next_code(text.text(), at),
                   form == UnicodeForm::Nfkc || form == UnicodeForm::Nfkd);
  }
  sort_marks(all);
  if (form == UnicodeForm::Nfc || form == UnicodeForm::Nfkc) compose(all);
  std::vector<NewCharacter> characters;
  characters.reserve(all.size());
  for (const Decomposed& c : all) characters.push_back({c.code, c.change});
  text.rewrite(characters);
}

NormalizerPtr unicode_form_normalizer(UnicodeForm form) {
  return std::make_shared<UnicodeFormNormalizer>(form);
}

}  // namespace attnscope
