// Text that normalizers and splitters rewrite, aligned byte by byte with the original text.
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

// A character of a rewritten text. `change` has the meaning of Hugging Face's tokenizers. 0:
// replaces the next character of the old text. 1: inserted, aligned with the previous character.
// -n: replaces the next character and removes the n characters after it.
struct NewCharacter {
  std::int32_t code = 0;
  int change = 0;
};

class AlignedText {
 public:
  AlignedText() = default;
  // `part` begins at byte `offset` of the original text.
  AlignedText(std::string_view part, std::size_t offset) : text_(part), offset_(offset) {}

  const std::string& text() const { return text_; }
  std::size_t offset() const { return offset_; }  // begin of the part in the original
  AlignedText empty_copy() const {
    AlignedText copy("", offset_);
    copy.keeps_begin_ = keeps_begin_;
    return copy;
  }
  // True if rewrite() dropped first characters: the libraries still place the text at offset().
  bool keeps_begin() const { return keeps_begin_; }
  // Span of the original text that a span of this text comes from; empty for an empty span.
  Span origin(Span part) const;

  // Removes the first `dropped` characters of the text and replaces the rest.
  void rewrite(const std::vector<NewCharacter>& characters, std::size_t dropped = 0);

  // Append text with its alignment.
  void append(std::string_view bytes, Span origin);
  void append(const AlignedText& other, Span part);

 private:
  void store_origins();  // fills origins_

  std::string text_;
  std::size_t offset_ = 0;  // begin of the part in the original
  bool keeps_begin_ = false;
  std::vector<Span> origins_;  // original span of each byte; empty: text_ is unchanged
};

}  // namespace attnscope
