// Broadcasting of two shapes as in NumPy, reduced to a few loops.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// The shape of an operation on both. InputError "add of [2, 3] and [4]: shapes do not fit".
Shape broadcast_shape(const char* operation, const Shape& a, const Shape& b);

// An axis of the result; neighbours that can be walked as one are joined.
struct BroadcastAxis {
  Index size = 1;
  Index stride_a = 0, stride_b = 0;  // 0 where the operand is repeated
};
// The last one is the innermost; never empty.
std::vector<BroadcastAxis> broadcast_axes(const Shape& result, const Shape& a, const Shape& b);

// Where row `row` (all axes but the last, counted row-major) begins in both operands.
struct BroadcastRow {
  Index a = 0, b = 0;
};
BroadcastRow broadcast_row(const std::vector<BroadcastAxis>& axes, Index row);

// Adds up what a broadcast repeated: `t` has the result's shape, the sum has `shape`.
Tensor sum_to_shape(const Tensor& t, const Shape& shape);

}  // namespace attnscope
