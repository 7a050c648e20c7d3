// Keys and values from before the segment.
#pragma once

#include "core/attention/variants/shared/assemble.h"

namespace attnscope {

// Keys or values [B h_kv, M, e] passed as a weight; no rows if absent.
Var memory_rows(const OperationInput& input, const char* name, Index size);

WeightInfo memory_weight(const char* name, const char* help, Index Dimensions::*rows,
                         Index Dimensions::*size);

// Positions first, first + 1, ...
std::vector<std::int32_t> positions_from(Index first, Index count);

// Prepends rows to keys or values; `rows` may have none.
Var prepended(const Var& rows, const Var& x);

}  // namespace attnscope
