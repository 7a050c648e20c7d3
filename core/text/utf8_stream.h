// Text that comes in pieces which may end within a character.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

class Utf8Stream {
 public:
  // What can be shown by now: whole characters. Bytes that can belong to none are U+FFFD, one for
  // each; the beginning of a character waits for its rest.
  std::string push(std::string_view bytes);
  // What is left at the end, likewise as U+FFFD.
  std::string finish();

 private:
  std::string waiting_;
};

}  // namespace attnscope
