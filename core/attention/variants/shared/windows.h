// Fewer keys from many: rows cut into windows that each become one row.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

// ceil(rows / size).
Index window_count(Index rows, Index size);

// x: [N, L, e], N = B h. Windows begin at 0, size, 2 size, ...; past the end of x there are zeros.
// Row J of the result is sum_t weights[a, t] x[size J + t] with a learned weight for each head
// (weights [h, size]).  [N, windows, e]
Var window_convolution(const Var& x, const Var& weights, Index heads, Index size, Index windows);

// The mean and the greatest number, component by component, of what is there of a window; zero
// where a window begins past the end.  [N, windows, e]
Var window_mean(const Var& x, Index size, Index windows);
Var window_max(const Var& x, Index size, Index windows);

// How window_mean combines rows, [windows, L].
Tensor mean_matrix(Index rows, Index size, Index windows);

// matrix [n, L] times every x[N, L, e].  [N, n, e]
Var combine_rows(const Var& matrix, const Var& x);

}  // namespace attnscope
