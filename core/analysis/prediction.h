// How well a model foresees the tokens it is given.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// -log2 of the probability that the softmax of row i - 1 of the logits gives to ids[i]; NaN for the
// first token, which nothing foresees.  logits: [L, vocabulary], ids: [L]; returns [L]
Tensor token_bits(const Tensor& logits, const std::vector<std::int32_t>& ids);

// What a run says comes after each position: of the mixture where contexts were retrieved, else the
// model's own logits. Undefined where it predicts no tokens.  [L, vocabulary]
const Tensor& predictions(const Trace& trace);

// The mean over a run's foreseen tokens. Only of a causal model is it a feat: any other has seen
// what it is asked for.
struct Prediction {
  Index tokens = 0;  // that were foreseen: L - 1
  double bits_per_token = 0;
  double perplexity = 1;     // 2^bits: as uncertain as between this many equal tokens
  double bits_per_byte = 0;  // for comparison across tokenizers; NaN where the tokens have no bytes
  bool sees_targets = false;  // some attention looks ahead: nothing was foreseen
};
std::optional<Prediction> prediction(const Trace& trace);  // nothing below two tokens

}  // namespace attnscope
