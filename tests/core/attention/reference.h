// The equations of core/part/part.h, written down pair by pair in double precision.
#pragma once

#include <string>
#include <vector>

#include "core/part/part.h"

namespace attnscope::testing {

struct Reference {
  std::vector<double> output;       // [B h, L_q, d_v]
  std::vector<double> attention;    // [B h, L_q, L_k]
  std::vector<double> scores;       // [B h, L_q, L_k], 0 where not allowed
  std::vector<double> log_sum_exp;  // [B h, L_q], or the plain sum of a feature ratio
};
Reference reference(const Part& part);
Tensor to_tensor(const Shape& shape, const std::vector<double>& numbers);

// A named part and the Vars whose gradients a test may check.
struct NamedPart {
  std::string name;
  Part part;
};
// Every ingredient, source and normaliser alone, and some together. `queries` of B * h heads.
// Vars are parameters (they want gradients) where `parameters`.
std::vector<NamedPart> named_parts(Index queries, bool parameters);

}  // namespace attnscope::testing
