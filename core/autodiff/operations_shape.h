// Rearranges elements. Negative axes count from the end. InputError for invalid axes or shapes.
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

Var reshape(const Var& x, Shape shape);                         // shares storage
Var permute(const Var& x, const std::vector<Index>& axes);      // result axis i is x's axis axes[i]
Var transpose(const Var& x);                                    // swaps the last two axes
Var concat(const std::vector<Var>& parts, Index axis);          // at least one part
Var slice(const Var& x, Index axis, Index first, Index count);  // shares storage if axis is 0

// Table lookup: [n, d] and ids of any shape -> [ids..., d]. InputError for an id outside [0, n).
Var gather(const Var& table, const IntTensor& ids);

Var split_heads(const Var& x, Index heads);  // [B, L, h d_k] -> [B h, L, d_k], batch-major
Var merge_heads(const Var& x, Index heads);  // [B h, L, d_k] -> [B, L, h d_k]

// Rotary position embedding (Su et al., 2021). x: [..., L, d_k]; cosine, sine: [L, p] of the angles
// of p pairs, p <= d_k / 2. Rotates each pair (a, b) to (a cos - b sin, a sin + b cos). Pair t
// consists of components 2 t and 2 t + 1 if `is_interleaved`, else t and t + p. Components from 2 p
// on are unchanged.
Var rotate(const Var& x, const Tensor& cosine, const Tensor& sine, bool is_interleaved);

}  // namespace attnscope
