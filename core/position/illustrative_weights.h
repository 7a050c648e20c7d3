// Illustrative initial position weights (WeightInfo::illustrative), for an encoding selected in a
// model that was trained with another one.
#pragma once

#include "core/part/info.h"

namespace attnscope {

using IllustrativeWeights = std::function<Tensor(const Shape&, const Situation&, const Values&)>;

// Sinusoidal vectors times `size`, [n, d]: of positions, with 0 in the first row, or of offsets,
// with 0 in the middle row.
IllustrativeWeights illustrative_positions(double size);
IllustrativeWeights illustrative_offsets(double size);
// Identity matrix [d, d], which assigns a different band of wavelengths to each head.
IllustrativeWeights illustrative_identity();

}  // namespace attnscope
