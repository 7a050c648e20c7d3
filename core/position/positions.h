// Rows of tables that have one for each position.
#pragma once

#include <cstdint>
#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// embedding [L_max, d] -> the rows of `positions`, [positions, d]. InputError "pos.embedding:
// expected at least 12 rows, one for each position, found 8".
Var rows_of_positions(const Var& embedding, const std::vector<std::int32_t>& positions);

// 0, 1, ... count - 1.
std::vector<std::int32_t> first_positions(Index count);

}  // namespace attnscope
