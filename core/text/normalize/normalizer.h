// The first step of a tokenizer: what a text is rewritten to before it is cut. Names and effects
// are those of Hugging Face's tokenizers, spans included (core/text/aligned_text.h).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/aligned_text.h"
#include "core/text/expression.h"

namespace attnscope {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(AlignedText& text) const = 0;
};
using NormalizerPtr = std::shared_ptr<const Normalizer>;

// Unicode's normalization forms (UAX 15).
enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };
NormalizerPtr unicode_form_normalizer(UnicodeForm form);
void apply_unicode_form(AlignedText& text, UnicodeForm form);

NormalizerPtr lowercase_normalizer();
void lowercase(AlignedText& text);

NormalizerPtr strip_accents_normalizer();  // drops combining marks

struct BertOptions {
  bool clean_text = true;          // controls vanish, white space becomes " "
  bool chinese_characters = true;  // " " on both sides of each
  bool strip_accents = true;       // decomposed, without non-spacing marks
  bool lowercase = true;
};
NormalizerPtr bert_normalizer(const BertOptions& options);

NormalizerPtr replace_normalizer(Expression what, std::string with);
NormalizerPtr prepend_normalizer(std::string what);  // where there is a text
NormalizerPtr strip_normalizer(bool left, bool right);
NormalizerPtr nmt_normalizer();         // SentencePiece's: controls vanish, odd spaces become " "
NormalizerPtr byte_level_normalizer();  // bytes in GPT-2's alphabet

// SentencePiece's table of replacements ("precompiled_charsmap"): as tokenizer.json applies it, by
// characters as readers know them; or as SentencePiece itself does, the longest match first, with
// white space trimmed, joined and marked. InputError, beginning with `where`, on a broken table.
NormalizerPtr precompiled_normalizer(std::string_view table, std::string_view where);
struct SentencePieceSpaces {
  bool remove_extra = true;  // at the ends and in runs
  bool escape = true;        // " " becomes "▁"
  bool prefix = true;        // "▁" before the text
  bool suffix = false;       // rather behind it
};
NormalizerPtr sentencepiece_normalizer(std::string_view table, const SentencePieceSpaces& spaces,
                                       std::vector<std::string> untouched, std::string_view where);

// Drops the characters for which keep(code) is false.
template <class Keep>
void filter_characters(AlignedText& text, const Keep& keep);
// Puts map(code) in the place of each.
template <class Map>
void map_characters(AlignedText& text, const Map& map);

}  // namespace attnscope

#include "core/text/normalize/characters.inc"
