// Rows of tables that have one for each position.
#pragma once

#include <cstdint>
#include <vector>

#include "core/autodiff/var.h"
#include "core/base/parameter.h"

namespace attnscope {

// embedding [L_max, d] -> the rows of `positions`, [positions, d]. InputError "pos.embedding:
// expected at least 12 rows, one for each position, found 8".
Var rows_of_positions(const Var& embedding, const std::vector<std::int32_t>& positions);

// 0, 1, ... count - 1.
std::vector<std::int32_t> first_positions(Index count);

// Of encodings of the input, in models: added in every layer and not once; to what values are made
// of, too, and not to what queries and keys are made of alone.
Parameter every_layer_parameter();  // "every_layer", false
Parameter to_values_parameter();    // "values", true

}  // namespace attnscope
