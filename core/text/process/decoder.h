// The way back: the text that tokens stand for, from how a vocabulary writes them. Names are those
// of the decoders of Hugging Face's tokenizers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/text/expression.h"

namespace attnscope {

class Decoder {
 public:
  void add_byte_level();                                   // from the alphabet of bytes
  void add_byte_fallback();                                // "<0xE4>"
  void add_spaces(std::string mark);                       // "▁" for " "
  void add_word_pieces(std::string prefix, bool cleanup);  // "##"; a space before others
  void add_word_ends(std::string suffix);                  // "</w>" for a space behind
  void add_replacement(Expression what, std::string with);
  // Characters at the ends of a whole text that go, at most so many.
  void add_strip(char character, std::size_t front, std::size_t back);

  std::string bytes(std::string written) const;  // of one token among others
  std::string whole(std::string text) const;     // of all of them, put together

 private:
  struct Strip {
    char character;
    std::size_t front, back;
  };
  std::vector<std::function<std::string(std::string)>> steps_;
  std::vector<Strip> strips_;
};

}  // namespace attnscope
