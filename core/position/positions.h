// Lookup of position vectors, and parameters of input encodings.
#pragma once

#include <cstdint>
#include <vector>

#include "core/autodiff/var.h"
#include "core/base/parameter.h"

namespace attnscope {

// Returns the rows of `embedding` [L_max, d] at `positions` [L]: [L, d]. Throws InputError
// "pos.embedding: expected at least 12 rows, one per position, found 8".
Var rows_of_positions(const Var& embedding, const std::vector<std::int32_t>& positions);

// 0, 1, ... count - 1.
std::vector<std::int32_t> first_positions(Index count);

// Parameters of input encodings in models.
Parameter every_layer_parameter();  // "every_layer": adds the vectors in every layer, not once
Parameter to_values_parameter();    // "values": adds the vectors to the input of values, too

}  // namespace attnscope
