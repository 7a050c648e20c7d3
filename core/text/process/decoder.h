// Decoders: convert tokens, as written in a vocabulary, back to text. Names follow the decoders of
// Hugging Face's tokenizers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/text/expression.h"

namespace attnscope {

class Decoder {
 public:
  void add_byte_level();                                   // byte alphabet to bytes
  void add_byte_fallback();                                // "<0xE4>" to the byte
  void add_spaces(std::string mark);                       // "▁" to " "; `mark` is not empty
  void add_word_pieces(std::string prefix, bool cleanup);  // removes "##" or adds a space
  void add_word_ends(std::string suffix);                  // "</w>" to " "; not empty
  void add_replacement(Expression what, std::string with);
  // Removes up to `front` copies of `character` at the text's start and up to `back` at its end.
  void add_strip(char character, std::size_t front, std::size_t back);

  // Text of one token. InputError for a text above 1 MB.
  std::string bytes(std::string token) const;
  std::string finish(std::string text) const;  // final text from the concatenated token texts

 private:
  struct Strip {
    char character;
    std::size_t front, back;
  };
  std::vector<std::function<std::string(std::string)>> steps_;
  std::vector<Strip> strips_;
};

}  // namespace attnscope
