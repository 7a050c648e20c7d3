// A text on its way through a tokenizer's normalizers that still knows where it came from.
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

// A character that takes the place of others, in the manner of Hugging Face's tokenizers, whose
// spans it reproduces: `change` 0 stands for the next character of the old text, 1 for none of them
// (it comes with the one before), -n for the next one, after which n more vanish.
struct NewCharacter {
  std::int32_t code = 0;
  int change = 0;
};

class AlignedText {
 public:
  AlignedText() = default;
  // A stretch of the original that begins at its byte `at`.
  AlignedText(std::string_view stretch, std::size_t at) : text_(stretch), at_(at) {}

  const std::string& text() const { return text_; }
  std::size_t stretch() const { return at_; }  // where it begins in the original
  AlignedText emptied() const { return AlignedText("", at_); }
  // The original's bytes that a part stands for; of an empty part none.
  Span origin(Span part) const;

  // The whole text anew; the first `dropped` characters vanish before the first new one.
  void rewrite(const std::vector<NewCharacter>& characters, std::size_t dropped = 0);

  // Building one up from another, in order.
  void append(std::string_view bytes, Span origin);
  void append(const AlignedText& other, Span part);

 private:
  void know_origins();  // writes them down

  std::string text_;
  std::size_t at_ = 0;         // where the stretch begins
  std::vector<Span> origins_;  // [bytes of text_]; empty: bytes are the original's, from at_ on
};

}  // namespace attnscope
