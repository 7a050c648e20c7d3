// Predictive quality of a model on the tokens of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Returns [L]: -log2 of the probability of ids[i] under the softmax of row i - 1 of the logits; NaN
// for the first token. logits: [L, vocabulary]; ids: [L].
Tensor token_bits(const LazyTensor& logits, const std::vector<std::int32_t>& ids);

// Next-token logits of a run. If the run retrieved contexts, log-probabilities of the mixture of
// model and retrieved tokens. Undefined if the model predicts no tokens.  [L, vocabulary]
const LazyTensor& predictions(const Trace& trace);

// Means over the predicted tokens of a run. Only meaningful if the model is causal.
struct Prediction {
  Index tokens = 0;  // predicted tokens: L - 1
  double bits_per_token = 0;
  double perplexity = 1;       // 2^bits_per_token
  double bits_per_byte = 0;    // comparable across tokenizers; NaN if the tokens have no bytes
  bool leaks_targets = false;  // some attention is non-causal and sees the tokens to predict
};
// Returns nullopt if the run has fewer than two tokens or no token bits.
std::optional<Prediction> prediction(const Trace& trace);

}  // namespace attnscope
