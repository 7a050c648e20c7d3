#include "core/base/lower_case.h"

#include <utility>

namespace attnscope {

char lower_case(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = lower_case(c);
  return text;
}

std::string lower_extension(const std::filesystem::path& path) {
  return lower_case(path.extension().string());
}

}  // namespace attnscope
