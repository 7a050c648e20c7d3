// Reduction of keys: rows are divided into windows, each of which becomes one row.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

// ceil(rows / size).
Index window_count(Index rows, Index size);

// Row J of the result is sum_t weights[a, t] x[size J + t] for head a, where rows beyond the end of
// x are zero. x: [N, L, e], N = B h; weights: [h, size].  [N, windows, e]
Var window_convolution(const Var& x, const Var& weights, Index heads, Index size, Index windows);

// Component-wise mean or maximum of the rows of x in each window; zero if the window begins
// beyond the end of x.  [N, windows, e]
Var window_mean(const Var& x, Index size, Index windows);
Var window_max(const Var& x, Index size, Index windows);

// Matrix of window_mean, [windows, L].
Tensor mean_matrix(Index rows, Index size, Index windows);

// Product of matrix [n, L] with each item of x [N, L, e].  [N, n, e]
Var combine_rows(const Var& matrix, const Var& x);

}  // namespace attnscope
