// Stored keys and values of earlier segments.
#pragma once

#include "core/attention/variants/shared/assemble.h"

namespace attnscope {

// Weight `name` with keys or values [B h_kv, M, e]; M = 0 if absent.
Var memory_rows(const OperationInput& input, const char* name, Index size);

WeightInfo memory_weight(const char* name, const char* help, Index Dimensions::*rows,
                         Index Dimensions::*size);

// Positions first, first + 1, ...
std::vector<std::int32_t> positions_from(Index first, Index count);

// Concatenates rows and x along axis 1; `rows` may be empty.
Var prepend_rows(const Var& rows, const Var& x);

}  // namespace attnscope
