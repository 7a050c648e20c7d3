// Decodes a stream of UTF-8 whose chunks may end inside a character.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

class Utf8Stream {
 public:
  // Appends bytes and returns all complete characters. Each invalid byte becomes U+FFFD. An
  // incomplete character remains for the next call.
  std::string push(std::string_view bytes);
  // Returns U+FFFD for each remaining byte.
  std::string finish();

 private:
  std::string pending_;
};

}  // namespace attnscope
