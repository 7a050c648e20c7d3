// Position vectors projected per head, for products with queries or keys.
#pragma once

#include "core/autodiff/var.h"
#include "core/part/info.h"

namespace attnscope {

// Returns vectors [n, d] times projection [d, h d_k], split by head: [h, n, d_k].
Var projected_rows(const Var& vectors, const Var& projection, Index heads);

// Projection weight [d, h d_k].
WeightInfo position_projection(const char* name, const char* help);

}  // namespace attnscope
