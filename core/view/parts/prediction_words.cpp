#include "core/view/parts/prediction_words.h"

#include <cmath>

#include "core/analysis/prediction.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

template <class Text>
std::string words(const Trace& trace, const Text& text_of) {
  const auto known = prediction(trace);
  if (!known) return "–";
  return text_of(*known) + (known->leaks_targets ? ", sees them" : "");
}

}  // namespace

std::string perplexity_words(const Trace& trace) {
  return words(trace, [](const Prediction& p) { return brief(p.perplexity, 4); });
}

std::string bits_per_token_words(const Trace& trace) {
  return words(trace, [](const Prediction& p) { return brief(p.bits_per_token); });
}

std::string bits_per_byte_words(const Trace& trace) {
  const auto known = prediction(trace);
  if (known && std::isnan(known->bits_per_byte)) return "–";
  return words(trace, [](const Prediction& p) { return brief(p.bits_per_byte); });
}

}  // namespace attnscope
