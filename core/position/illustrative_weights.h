// Illustrative initial position weights, for an encoding selected in a model that was trained with
// another one (WeightInfo::illustrative): waves, by which distances can be distinguished.
#pragma once

#include "core/part/info.h"

namespace attnscope {

using IllustrativeWeights = std::function<Tensor(const Shape&, const Situation&, const Values&)>;

// Rows [n, d] of sinusoidal vectors times `size`: of positions, starting at the first row, or of
// offsets, with 0 at the middle row.
IllustrativeWeights illustrative_positions(double size);
IllustrativeWeights illustrative_offsets(double size);
// Identity matrix [d, d]: each head sees a different band of wavelengths.
IllustrativeWeights illustrative_identity();

}  // namespace attnscope
