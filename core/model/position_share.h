// Telling position vectors apart from what else a layer sees, where an encoding of the input has
// added them. In a pre-norm model they stay in the residual stream as they are; each norm that the
// rows go through scales them with the rest.
#pragma once

#include "core/model/config.h"

namespace attnscope {

// What of norm(x) comes from `place`, a share of x; the rest, with the norm's bias, is content.
// The norm divides by what it divides all of x by, so that the shares add up.
// x, place: [n, d], gain: [d].
Tensor normed_share(const Tensor& place, const Tensor& x, const Tensor& gain, Norm norm,
                    double epsilon);

}  // namespace attnscope
