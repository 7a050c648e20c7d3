// Illustrative initial position weights (WeightInfo::illustrative), for an encoding selected in a
// model that was trained with another encoding.
#pragma once

#include "core/part/info.h"

namespace attnscope {

using IllustrativeWeights = std::function<Tensor(const Shape&, const Situation&, const Values&)>;

// Sinusoidal vectors [n, d], multiplied by `size`. Row r is the vector of position r
// (illustrative_positions) or of offset r - n / 2 (illustrative_offsets).
IllustrativeWeights illustrative_positions(double size);
IllustrativeWeights illustrative_offsets(double size);
// Identity matrix. As a projection, it gives each head a different band of wavelengths.
IllustrativeWeights illustrative_identity();

}  // namespace attnscope
