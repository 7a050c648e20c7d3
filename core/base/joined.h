// Words in a row: "one, two".
#pragma once

#include <string>

namespace attnscope {

template <class Words>
std::string joined(const Words& words, const char* between = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

}  // namespace attnscope
