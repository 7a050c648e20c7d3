// Row operations on matrices, for work on some tokens of a sequence.
#pragma once

#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// Selects rows. x: [n, d] -> [rows, d]
Var select_rows(const Var& x, const std::vector<std::int32_t>& rows);
// Returns x with `rows` replaced by `new_rows` [rows, d]; no gradients.
Var replace_rows(const Var& x, const Var& new_rows, const std::vector<std::int32_t>& rows);
// Selects row by row: a where `selector` [n] is 1, b where it is 0.
Var choose_rows(const Tensor& selector, const Var& a, const Var& b);
// Mean over the positions of each sequence: [B L, d] -> [B, d]
Var mean_rows(const Var& x, Index batch);

}  // namespace attnscope
