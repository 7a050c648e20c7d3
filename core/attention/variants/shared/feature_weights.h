// Feature ratios beyond the range of float32, computed pair by pair in double precision:
//   w_ij = sum_t m_it m'_jt exp(e_it + e'_jt - E_i),  a_ij = w_ij / sum of w_ir over S_i
// with mantissas m and exponents e of the features. E_i is the largest exponent of an allowed pair
// of row i, so that keys outside S_i cannot push the row out of range. The cost is O(L_q L_k D).
// Backward, with g_ij = (d a_ij - sum_r a_ir d a_ir) / sum of w_ir, for each term T_ijt of w_ij:
//   d e_it += g_ij T_ijt,  d m_it += g_ij T_ijt / m_it, and likewise for the key.
#pragma once

#include "core/attention/variants/shared/features.h"

namespace attnscope {

// Weights a_ij, 0 outside S_i.  [B h, L_q, L_k]
Var feature_weights(const Features& q, const Features& k,
                    const std::shared_ptr<const Pattern>& pattern, Index heads);

}  // namespace attnscope
