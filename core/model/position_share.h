// Contribution of position vectors to the input of a layer, for input encodings. In a pre-norm
// model, the residual stream contains these vectors unchanged; norms scale vectors and content
// alike.
#pragma once

#include "core/model/config.h"

namespace attnscope {

// Contribution of `position`, a summand of x, to norm(x); the remainder, including the norm's bias,
// is content. Uses the divisor of norm(x), so that contributions add up to norm(x). x, position:
// [n, d], gain: [d].
Tensor norm_contribution(const Tensor& position, const Tensor& x, const Tensor& gain, Norm norm,
                         double epsilon);

}  // namespace attnscope
