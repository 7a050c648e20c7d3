// Contribution of position vectors to the input of a layer, for input encodings. In a pre-norm
// model they stay unchanged in the residual stream; each norm scales them together with the rest.
#pragma once

#include "core/model/config.h"

namespace attnscope {

// Contribution of `place`, a summand of x, to norm(x); the rest, including the norm's bias, is
// content. Uses the norm's divisor for all of x, so that contributions add up.
// x, place: [n, d], gain: [d].
Tensor normed_share(const Tensor& place, const Tensor& x, const Tensor& gain, Norm norm,
                    double epsilon);

}  // namespace attnscope
