// What stands for untrained weights of positions where a person picks an encoding for a model that
// was trained with another (WeightInfo::shown): waves, by which distances can be told apart.
#pragma once

#include "core/part/info.h"

namespace attnscope {

using Shown = std::function<Tensor(const Shape&, const Situation&, const Values&)>;

// Rows [n, d]: the sinusoidal vectors of positions, counted from the first row, or of offsets,
// counted from the row in the middle; times `size`.
Shown shown_positions(double size);
Shown shown_offsets(double size);
// A square [d, d] that changes nothing: each head gets waves of its own length.
Shown shown_identity();

}  // namespace attnscope
