// Sampling of the next token: temperature, top-k and top-p (nucleus) sampling.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct Sampling {
  double temperature = 1;  // divisor of the logits; 0: always the most likely token
  Index top_k = 0;         // number of most likely tokens to keep; 0: all
  double top_p = 1;        // keeps the smallest set of tokens with this total probability
  bool operator==(const Sampling&) const = default;
};

// InputError "temperature: expected a number of at least 0, found -1".
void check(const Sampling& sampling);

// logits: [vocabulary]; -infinity marks impossible tokens. Returns probabilities, [vocabulary],
// that sum to 1; excluded tokens have 0. Applies temperature, then top-k, then top-p (Holtzman et
// al., 2019, arXiv:1904.09751), and keeps at least one token. Ties: the lower id counts as more
// likely. Throws WorkError for logits that are not numbers.
std::vector<double> probabilities(const Tensor& logits, const Sampling& sampling);

std::int32_t sample(const std::vector<double>& probabilities, Random& random);

struct SeededSampling {
  Sampling sampling;
  std::uint64_t seed = 0;
};
// Draws a token; equal arguments yield equal tokens.
std::int32_t sample_at(const std::vector<double>& probabilities, Index position,
                       std::uint64_t seed);

struct Candidate {
  std::int32_t id = 0;
  double probability = 0;
};
// Most likely tokens, best first, without impossible ones; at most `count`.
std::vector<Candidate> likeliest(const std::vector<double>& probabilities, Index count);

}  // namespace attnscope
