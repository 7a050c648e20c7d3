#include "core/view/parts/prediction_words.h"

#include <cmath>

#include "core/analysis/prediction.h"
#include "core/figure/plain_text.h"

namespace attnscope {
namespace {

template <class Text>
std::string describe_quality(const Trace& trace, const Text& number_text) {
  const auto quality = prediction(trace);
  if (!quality) return kUnknownQuality;
  return number_text(*quality) + (quality->leaks_targets ? ", leaks targets" : "");
}

}  // namespace

std::string describe_perplexity(const Trace& trace) {
  return describe_quality(trace, [](const Prediction& p) { return brief(p.perplexity, 4); });
}

std::string describe_bits_per_token(const Trace& trace) {
  return describe_quality(trace, [](const Prediction& p) { return brief(p.bits_per_token); });
}

std::string describe_bits_per_byte(const Trace& trace) {
  const auto quality = prediction(trace);
  if (quality && std::isnan(quality->bits_per_byte)) return kUnknownQuality;
  return describe_quality(trace, [](const Prediction& p) { return brief(p.bits_per_byte); });
}

}  // namespace attnscope
