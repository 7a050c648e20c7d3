// How RoPE's frequencies are changed so that a model reads texts longer than those of its training
// (the parameter "scaling" of the encoding "rope").
#pragma once

#include <string>
#include <vector>

#include "core/base/parameter.h"

namespace attnscope {

// The parameters beside "factor", all of them optional.
std::vector<Parameter> rope_scaling_parameters();
// Why they do not go together with so many turned components: "original: expected ..."; or empty.
std::string rope_scaling_objection(const Values& values, Index dims);

// Radians for each position of dims / 2 pairs, in a text of so many tokens (0: not longer than
// those of training). With w_t = base^(-2t/dims), N = "original" and turns_t = N w_t / 2 pi:
//   linear    w_t / factor
//   dynamic   w_t of base * (factor L / N - factor + 1)^(dims / (dims - 2)) where L > N (NTK)
//   llama3    between w_t / factor (up to "slow_turns") and w_t (from "fast_turns" on), by turns_t
//   yarn      the same by t, between the pairs with so many turns (Peng et al., 2023,
//             arXiv:2309.00071); whole ones unless "whole_pairs" is false
//   longrope  w_t / short_factors[t], or where L > N / long_factors[t] (Ding et al., 2024,
//             arXiv:2402.13753)
std::vector<double> rope_frequencies(const Values& values, Index dims, Index length);
// What turned components are multiplied with, so that scores gain its square (YaRN).
double rope_gain(const Values& values);
// Whether frequencies differ between texts of up to so many tokens: then earlier rows change as a
// text grows.
bool rope_follows_length(const Values& values, Index context);

}  // namespace attnscope
