// The next token from a model's logits: temperature, top-k and top-p (nucleus) sampling.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct Sampling {
  double temperature = 1;  // logits are divided by it; 0: always the likeliest token
  Index top_k = 0;         // only so many of the likeliest are left; 0: all
  double top_p = 1;        // of these the likeliest that together reach this probability
  bool operator==(const Sampling&) const = default;
};

// InputError "temperature: expected a number of at least 0, found -1".
void check(const Sampling& sampling);

// logits: [vocabulary], of which -infinity is an impossible token. Returns the probabilities,
// [vocabulary], 0 for those left out; their sum is 1. Temperature first, then top-k, then top-p
// (Holtzman et al., 2019, arXiv:1904.09751), of which at least one token stays. Among equals the
// lowest id is the likelier. WorkError where the logits are no numbers.
std::vector<double> probabilities(const Tensor& logits, const Sampling& sampling);

// A token by its probability.
std::int32_t sample(const std::vector<double>& probabilities, Random& random);

// How a text goes on by itself.
struct Drawing {
  Sampling sampling;
  std::uint64_t seed = 0;
};
// The token that is drawn at this position: the same whenever all three are.
std::int32_t sample_at(const std::vector<double>& probabilities, Index position,
                       std::uint64_t seed);

struct Candidate {
  std::int32_t id = 0;
  double probability = 0;
};
// The likeliest tokens, best first, without impossible ones; at most `count`.
std::vector<Candidate> likeliest(const std::vector<double>& probabilities, Index count);

}  // namespace attnscope
