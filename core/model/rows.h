// Some rows of a matrix, for work on a few tokens of a sequence.
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// x: [n, d] -> [rows, d]
Var some_rows(const Var& x, const std::vector<std::int32_t>& rows);
// x with these rows replaced by those of `part` [rows, d]; without gradients.
Var with_rows(const Var& x, const Var& part, const std::vector<std::int32_t>& rows);
// Row by row a where `first` is 1, b where it is 0.  first: [n]
Var chosen_rows(const Tensor& first, const Var& a, const Var& b);
// Mean over the positions of each sequence: [B L, d] -> [B, d]
Var mean_rows(const Var& x, Index batch);

}  // namespace attnscope
