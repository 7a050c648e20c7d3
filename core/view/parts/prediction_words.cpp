#include "core/view/parts/prediction_words.h"

#include <cmath>

#include "core/analysis/prediction.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

template <class Text>
std::string words(const Trace& trace, const Text& text_of) {
  const auto quality = prediction(trace);
  if (!quality) return "–";
  return text_of(*quality) + (quality->leaks_targets ? ", leaks targets" : "");
}

}  // namespace

std::string perplexity_words(const Trace& trace) {
  return words(trace, [](const Prediction& p) { return brief(p.perplexity, 4); });
}

std::string bits_per_token_words(const Trace& trace) {
  return words(trace, [](const Prediction& p) { return brief(p.bits_per_token); });
}

std::string bits_per_byte_words(const Trace& trace) {
  const auto quality = prediction(trace);
  if (quality && std::isnan(quality->bits_per_byte)) return "–";
  return words(trace, [](const Prediction& p) { return brief(p.bits_per_byte); });
}

}  // namespace attnscope
