// Matrix products. Errors: InputError when shapes do not fit.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

// [..., m, k] x [k, n] -> [..., m, n], or a product for each of a batch,
// [B, m, k] x [B, k, n] -> [B, m, n].
Var matmul(const Var& a, const Var& b);

// The same with the second operand stored transposed: [n, k] or [B, n, k].
Var matmul_transposed(const Var& a, const Var& b);

}  // namespace attnscope
