// Reference implementation of core/part/part.h, pair by pair in double precision.
#pragma once

#include <string>
#include <vector>

#include "core/part/part.h"

namespace attnscope::testing {

struct Reference {
  std::vector<double> output;       // [B h, L_q, d_v]
  std::vector<double> attention;    // [B h, L_q, L_k]
  std::vector<double> scores;       // [B h, L_q, L_k], 0 where not allowed
  std::vector<double> log_sum_exp;  // [B h, L_q]; the sum itself for a feature ratio
};
Reference reference(const Part& part);
Tensor to_tensor(const Shape& shape, const std::vector<double>& numbers);

struct NamedPart {
  std::string name;
  Part part;
};
// Parts with `queries` queries that cover every ingredient, source and normaliser, and combinations
// of these. parameters: true if the Vars of the parts require gradients.
std::vector<NamedPart> named_parts(Index queries, bool parameters);

}  // namespace attnscope::testing
