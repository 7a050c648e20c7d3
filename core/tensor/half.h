// 16-bit floating-point storage formats: IEEE binary16 and bfloat16. Conversions round to nearest,
// ties to even; overflow gives infinity; NaN stays NaN.
#pragma once

#include <cstdint>

#include "core/tensor/tensor.h"

namespace attnscope {

float from_half(std::uint16_t bits);
std::uint16_t to_half(float value);
float from_bfloat(std::uint16_t bits);
std::uint16_t to_bfloat(float value);

// Convert `count` numbers; `bits` may be unaligned (file data).
void from_half(const void* bits, float* values, Index count);
void to_half(const float* values, void* bits, Index count);
void from_bfloat(const void* bits, float* values, Index count);
void to_bfloat(const float* values, void* bits, Index count);

}  // namespace attnscope
