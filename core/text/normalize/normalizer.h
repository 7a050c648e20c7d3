// Normalizers, the first step of a tokenizer (pipeline.h): rewrite a text before it is split. Names
// and effects equal those of Hugging Face's tokenizers, including spans (aligned_text.h).
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

// Unicode normalization forms (UAX 15).
enum class UnicodeForm { Nfc, Nfd, Nfkc, Nfkd };
NormalizerPtr unicode_form_normalizer(UnicodeForm form);
void apply_unicode_form(AlignedText& text, UnicodeForm form);

NormalizerPtr lowercase_normalizer();
void lowercase(AlignedText& text);

NormalizerPtr strip_accents_normalizer();  // removes combining marks

struct BertOptions {
  bool clean_text = true;          // removes control characters; white space becomes " "
  bool chinese_characters = true;  // adds " " on both sides of Chinese characters
  bool strip_accents = true;       // decomposes and removes non-spacing marks
  bool lowercase = true;
};
NormalizerPtr bert_normalizer(const BertOptions& options);

NormalizerPtr replace_normalizer(Expression pattern, std::string replacement);
NormalizerPtr prepend_normalizer(std::string prefix);  // leaves empty text unchanged
NormalizerPtr strip_normalizer(bool left, bool right);
NormalizerPtr nmt_normalizer();         // removes control characters; white space becomes " "
NormalizerPtr byte_level_normalizer();  // maps bytes to GPT-2's alphabet

// SentencePiece's replacement table ("precompiled_charsmap"). precompiled_normalizer() replaces
// grapheme clusters, as tokenizer.json does. sentencepiece_normalizer() replaces longest matches,
// as SentencePiece does, leaves the texts in `untouched` unchanged, and applies `spaces`. Both
// throw InputError, beginning with `where`, for a damaged table.
NormalizerPtr precompiled_normalizer(std::string_view table, std::string_view where);
struct SentencePieceSpaces {
  bool remove_extra = true;  // trims and collapses spaces
  bool escape = true;        // " " becomes "▁"
  bool prefix = true;        // adds "▁" before the text
  bool suffix = false;       // adds "▁" after the text instead of before
};
NormalizerPtr sentencepiece_normalizer(std::string_view table, const SentencePieceSpaces& spaces,
                                       std::vector<std::string> untouched, std::string_view where);

// Removes the characters for which keep(code) is false.
template <class Keep>
void filter_characters(AlignedText& text, const Keep& keep);
// Replaces each character by map(code).
template <class Map>
void map_characters(AlignedText& text, const Map& map);

}  // namespace attnscope

#include "core/text/normalize/characters.inc"
