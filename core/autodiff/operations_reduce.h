// Reductions and normalisations. InputError for incompatible shapes.
#pragma once

#include "core/autodiff/var.h"

namespace attnscope {

Var sum(const Var& x);                   // sum of all elements -> []
Var mean(const Var& x);                  // mean of all elements -> []; x must not be empty
Var sum_axis(const Var& x, Index axis);  // [..., n, ...] -> [..., ...]

// Normalise rows of the last axis, numerically stable. softmax() of a row of -infinity is zero.
Var softmax(const Var& x);
Var log_softmax(const Var& x);

// Mean over rows of -log softmax(logits)[target]. logits: [..., n]; targets: [...], each in [0, n),
// or -1 to ignore the row. 0 if all rows are ignored.
Var cross_entropy(const Var& logits, const IntTensor& targets);

// Normalises rows of the last axis to length 1, in double precision. A zero row stays zero.
Var unit_rows(const Var& x);

// Layer norm of rows of size d (Ba et al., 2016): (x - mean) / sqrt(variance + epsilon) * gain +
// bias. gain: [d]; bias: [d] or undefined.
Var layer_norm(const Var& x, const Var& gain, const Var& bias, double epsilon);
// x / sqrt(mean(x^2) + epsilon) * gain (Zhang and Sennrich, 2019).
Var rms_norm(const Var& x, const Var& gain, double epsilon);

}  // namespace attnscope
