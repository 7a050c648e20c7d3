// Frequency scaling of RoPE for texts longer than in training (parameter "scaling" of "rope").
#pragma once

#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace attnscope {

// Parameters of the scaling other than "factor"; all are optional.
std::vector<Parameter> rope_scaling_parameters();
// Error message for parameters that are invalid for `dims` rotated components, "original: expected
// ..."; empty if all are valid.
std::string rope_scaling_objection(const Values& values, Index dims);

// Frequencies of dims / 2 pairs in radians per position, for a text of `length` tokens (0: at most
// the original context). With w_t = base^(-2t/dims), N = "original" and rotations_t = N w_t / 2 pi:
//   linear    w_t / factor
//   dynamic   w_t with base * (factor L / N - factor + 1)^(dims / (dims - 2)) if L > N (NTK)
//   llama3    interpolated by rotations_t: w_t / factor at "slow_turns", w_t at "fast_turns"
//   yarn      interpolated by t between the pairs with these rotations_t, rounded to integers
//             unless "whole_pairs" is false (Peng et al., 2023, arXiv:2309.00071)
//   longrope  w_t / short_factors[t], or w_t / long_factors[t] if L > N (Ding et al., 2024,
//             arXiv:2402.13753)
std::vector<double> rope_frequencies(const Values& values, Index dims, Index length);
// Factor of the rotated components; scores scale with its square (YaRN).
double rope_gain(const Values& values);
// True if frequencies depend on the length of texts of up to `context` tokens. The vectors of
// earlier tokens then change when a token is appended.
bool rope_depends_on_length(const Values& values, Index context);

}  // namespace attnscope
