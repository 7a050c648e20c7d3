// Operations that move numbers. Negative axes count from the end. Errors: InputError when shapes,
// axes or ranges do not fit.
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

Var reshape(const Var& x, Shape shape);                         // shares the numbers
Var permute(const Var& x, const std::vector<Index>& axes);      // result axis i is x's axis axes[i]
Var transpose(const Var& x);                                    // the last two axes
Var concat(const std::vector<Var>& parts, Index axis);          // at least one
Var slice(const Var& x, Index axis, Index first, Index count);  // shares where axis is 0

// Rows of a table by number, [n, d] and ids of any shape -> [ids..., d]. An id outside [0, n) is
// an InputError.
Var gather(const Var& table, const IntTensor& ids);

Var split_heads(const Var& x, Index heads);  // [B, L, h d_k] -> [B h, L, d_k], batch-major
Var merge_heads(const Var& x, Index heads);  // [B h, L, d_k] -> [B, L, h d_k]

// Rotary position embedding (Su et al., 2021). x: [..., L, d_k]; cosine and sine: [L, p] of the
// angles of p <= d_k / 2 pairs, which are components (2 t, 2 t + 1) where `interleaved`, else
// (t, t + p). Pair t of row i turns by its angle: (a cos - b sin, a sin + b cos). Components from
// 2 p on stay as they are.
Var rotate(const Var& x, const Tensor& cosine, const Tensor& sine, bool interleaved);

}  // namespace attnscope
