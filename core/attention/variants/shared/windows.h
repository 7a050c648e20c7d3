// Reduction of keys: rows are cut into windows that become one row each.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

// ceil(rows / size).
Index window_count(Index rows, Index size);

// x: [N, L, e], N = B h. Windows begin at 0, size, 2 size, ...; rows beyond the end of x are zero.
// Row J of the result is sum_t weights[a, t] x[size J + t], with learned weights per head
// (weights [h, size]).  [N, windows, e]
Var window_convolution(const Var& x, const Var& weights, Index heads, Index size, Index windows);

// Component-wise mean and maximum over the existing rows of a window; zero if the window begins
// beyond the end.  [N, windows, e]
Var window_mean(const Var& x, Index size, Index windows);
Var window_max(const Var& x, Index size, Index windows);

// Matrix of window_mean, [windows, L].
Tensor mean_matrix(Index rows, Index size, Index windows);

// Product of matrix [n, L] with every x[N, L, e].  [N, n, e]
Var combine_rows(const Var& matrix, const Var& x);

}  // namespace attnscope
