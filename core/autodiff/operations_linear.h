// Matrix products. InputError for incompatible shapes.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

// [..., m, k] x [k, n] -> [..., m, n], or batched: [B, m, k] x [B, k, n] -> [B, m, n].
Var matmul(const Var& a, const Var& b);

// matmul() with b stored transposed: [n, k] or [B, n, k].
Var matmul_transposed(const Var& a, const Var& b);

}  // namespace attnscope
