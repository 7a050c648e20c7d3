#include "core/view/architecture/diagram_words.h"

#include "core/figure/plain_text.h"

namespace attnscope {

std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

std::string describe_layers(Index first, Index last) {
  if (first == last) return "layer " + std::to_string(first);
  return "layers " + std::to_string(first) + "–" + std::to_string(last);
}

std::string describe_heads(Index first, Index count) {
  if (count == 1) return "Head " + std::to_string(first);
  return "Heads " + std::to_string(first) + "–" + std::to_string(first + count - 1);
}

std::string format_parameters(Index count) {
  constexpr double kThousand = 1e3, kMillion = 1e6;
  const auto number = static_cast<double>(count);
  if (number < kThousand) return std::to_string(count);
  if (number < kMillion) return brief(number / kThousand) + " k";
  return brief(number / kMillion) + " M";
}

}  // namespace attnscope
