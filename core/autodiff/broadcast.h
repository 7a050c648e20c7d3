// NumPy-style broadcasting of two shapes, reduced to few loops.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// Result shape of a binary operation. InputError "add of [2, 3] and [4]: incompatible shapes".
Shape broadcast_shape(const char* operation, const Shape& a, const Shape& b);

// An axis of the result; adjacent axes with compatible strides are merged.
struct BroadcastAxis {
  Index size = 1;
  Index stride_a = 0, stride_b = 0;  // 0 if the operand is repeated
};
// Axes of the loops over the result, innermost axis last; never empty.
std::vector<BroadcastAxis> broadcast_axes(const Shape& result, const Shape& a, const Shape& b);

// Offsets of row `row` in both operands. Rows are counted row-major over all axes but the last.
struct BroadcastRow {
  Index a = 0, b = 0;
};
BroadcastRow broadcast_row(const std::vector<BroadcastAxis>& axes, Index row);

// Sums `t` over its broadcast axes to `shape`: the gradient of a broadcast.
Tensor sum_to_shape(const Tensor& t, const Shape& shape);

}  // namespace attnscope
