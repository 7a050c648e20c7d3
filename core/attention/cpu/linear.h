// Ratios and plain sums of feature products in linear time (Katharopoulos et al., 2020,
// arXiv:2006.16236).
//
// Query i sees the first n_i keys, and n_i never decreases (all keys, or causal), so that sums over
// keys are running sums. Let v~ = [v, 1], the state S = sum_c k_c v~_c^T, and l_i the sum of the
// weights w_ic = q_i . k_c; then [l_i output_i, l_i] = q_i S. Weights of a key that only some rows
// of a block see are computed one by one. With g_i = [d output_i, -d output_i . output_i] / l_i:
//   d q_i = sum_c (g_i . v~_c) k_c,  d k_c = sum_i (g_i . v~_c) q_i,  d v_c = sum_i w_ic g_i.
// Plain sums (Normaliser::None) are the same without l_i: output_i = q_i S, g_i = [d output_i, 0].
#pragma once

#include "core/attention/backend.h"
#include "core/attention/cpu/gradients.h"

namespace attnscope::cpu {

// True if the part is a ratio or a plain sum whose queries see the first n_i keys, as above.
bool is_linear(const Part& part);

// Writes result.output, and l_i of a ratio to result.log_sum_exp if that tensor is defined.
void forward_linear(const Prepared& prepared, PartResult& result);
void backward_linear(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
                     Gradients& gradients);

}  // namespace attnscope::cpu
