// Reference implementation of core/part/part.h, pair by pair in double precision.
#pragma once

#include <string>
#include <vector>

#include "core/part/part.h"

namespace attnscope::testing {

struct Reference {
  std::vector<double> output;       // [B h, L_q, d_v]
  std::vector<double> attention;    // [B h, L_q, L_k]
  std::vector<double> scores;       // [B h, L_q, L_k]; 0 for forbidden pairs
  std::vector<double> log_sum_exp;  // [B h, L_q]; without a softmax, the sum itself
};
Reference reference(const Part& part);
Tensor to_tensor(const Shape& shape, const std::vector<double>& numbers);

struct NamedPart {
  std::string name;
  Part part;
};
// Returns parts with `queries` queries. Together they cover every ingredient, source and
// normaliser, and combinations of these. If `parameters` is true, the Vars of the parts require
// gradients.
std::vector<NamedPart> named_parts(Index queries, bool parameters);

}  // namespace attnscope::testing
