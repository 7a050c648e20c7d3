// Text under normalization with byte-exact alignment to the original text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Span {
  std::size_t begin = 0, end = 0;  // bytes, [begin, end)
  bool operator==(const Span&) const = default;
};

// A replacement character, in the manner of Hugging Face's tokenizers, whose spans it reproduces.
// `change` 0: replaces the next character of the old text. 1: inserted, aligned with the previous
// character. -n: replaces the next character and removes n more after it.
struct NewCharacter {
  std::int32_t code = 0;
  int change = 0;
};

class AlignedText {
 public:
  AlignedText() = default;
  // A part of the original that begins at its byte `at`.
  AlignedText(std::string_view stretch, std::size_t at) : text_(stretch), at_(at) {}

  const std::string& text() const { return text_; }
  std::size_t offset() const { return at_; }  // begin of the part in the original
  AlignedText empty_copy() const { return AlignedText("", at_); }
  // The original bytes of a span of this text; empty for an empty span.
  Span origin(Span part) const;

  // Replaces the whole text; the first `dropped` characters are removed before the first new one.
  void rewrite(const std::vector<NewCharacter>& characters, std::size_t dropped = 0);

  // Appends text with its alignment, in order.
  void append(std::string_view bytes, Span origin);
  void append(const AlignedText& other, Span part);

 private:
  void store_origins();  // fills origins_

  std::string text_;
  std::size_t at_ = 0;         // begin of the part in the original
  std::vector<Span> origins_;  // [bytes of text_]; empty: text_ is the original from at_ on
};

}  // namespace attnscope
