// Joins strings: "one, two".
#pragma once

#include <string>

namespace attnscope {

template <class Words>
std::string join_words(const Words& words, const char* separator = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// Joins strings as alternatives: "a, b or c".
inline std::string alternatives(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (n > 0) text += n + 1 == names.size() ? " or " : ", ";
    text += names[n];
  }
  return text;
}

}  // namespace attnscope
