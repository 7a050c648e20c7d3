#include "core/figure/wrap_text.h"

#include <algorithm>

namespace attnscope {

std::vector<std::string> wrap_text(const std::string& text, const TextMeasure& measure, double size,
                                   double width) {
  std::vector<std::string> lines;
  std::string line;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::string extended_line = line.empty() ? word : line + " " + word;
    if (!line.empty() && measure.width(extended_line, size) > width) {
      lines.push_back(line);
      line = word;
    } else {
      line = extended_line;
    }
    begin = end + 1;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

}  // namespace attnscope
