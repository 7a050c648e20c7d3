// Sums and what is normalised by them. Errors: InputError when shapes do not fit.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

Var sum(const Var& x);                   // of all numbers -> []
Var mean(const Var& x);                  // of all numbers -> []; x must not be empty
Var sum_axis(const Var& x, Index axis);  // [..., n, ...] -> [..., ...]

// Over the last axis, computed stably. A row of minus infinities becomes zeros in softmax.
Var softmax(const Var& x);
Var log_softmax(const Var& x);

// The mean over rows of -log softmax(logits)[target]. logits: [..., n], targets: the shape before
// n, each in [0, n), or -1 for a row that does not count. Without any row that counts: 0.
Var cross_entropy(const Var& logits, const IntTensor& targets);

// Each row of the last axis scaled to length 1. Lengths are computed in double precision; a row of
// zeros stays zero.
Var unit_rows(const Var& x);

// Over the last axis, of size d: (x - mean) / sqrt(variance + epsilon) * gain + bias (Ba et al.,
// 2016), gain [d], and bias [d] or undefined.
Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon);
// x / sqrt(mean(x^2) + epsilon) * gain (Zhang and Sennrich, 2019).
Var rms_norm(const Var& x, const Var& gain, double epsilon);

}  // namespace attnscope
