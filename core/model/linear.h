// Matrix products of a forward pass, which end soon after a request to stop.
#pragma once

#include "core/autodiff/var.h"
#include "core/base/stop.h"

namespace attnscope {

// x w + bias: [n, in] x [in, out] -> [n, out]; bias [out] or undefined. Without gradients a large
// product is computed in blocks of rows with a look at `stop` between them (Stopped).
Var linear(const Var& x, const Var& w, const Var& bias, const Stop& stop);

// x w^T with w [out, in].
Var linear_transposed(const Var& x, const Var& w, const Stop& stop);

}  // namespace attnscope
