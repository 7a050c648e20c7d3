#include "core/autodiff/broadcast.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace attnscope {
namespace {

// Minimum columns per thread. Threads divide columns, not sums, for reproducible results.
constexpr Index kColumns = 64;

std::vector<Index> strides_in(const Shape& shape, std::size_t result_rank) {
  std::vector<Index> strides(result_rank, 0);
  Index stride = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const Index n = shape[shape.size() - 1 - i];
    strides[result_rank - 1 - i] = n == 1 ? 0 : stride;
    stride *= n;
  }
  return strides;
}

// Sums rows of [rows, columns] into [columns].
void sum_rows(const float* from, Index rows, Index columns, float* to) {
  const Index grain = std::max(kColumns, (Index{1} << 15) / std::max(rows, Index{1}));
  parallel_for(columns, grain, [=](Index first, Index last) {
    std::fill(to + first, to + last, 0.0f);
    for (Index row = 0; row < rows; ++row) {
      const float* row_data = from + row * columns;
      for (Index i = first; i < last; ++i) to[i] += row_data[i];
    }
  });
}

}  // namespace

Shape broadcast_shape(const char* operation, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 1; i <= result.size(); ++i) {
    const Index x = i <= a.size() ? a[a.size() - i] : 1, y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1) {
      throw InputError(std::string(operation) + " of " + to_string(a) + " and " + to_string(b) +
                       ": incompatible shapes");
    }
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
}

std::vector<BroadcastAxis> broadcast_axes(const Shape& result, const Shape& a, const Shape& b) {
  const auto stride_a = strides_in(a, result.size()), stride_b = strides_in(b, result.size());
  std::vector<BroadcastAxis> axes;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const BroadcastAxis axis{result[i], stride_a[i], stride_b[i]};
    if (axis.size == 1) continue;
    BroadcastAxis* outer = axes.empty() ? nullptr : &axes.back();
    if (outer && outer->stride_a == axis.stride_a * axis.size &&
        outer->stride_b == axis.stride_b * axis.size) {
      *outer = {outer->size * axis.size, axis.stride_a, axis.stride_b};
    } else {
      axes.push_back(axis);
    }
  }
  if (axes.empty()) axes.push_back({1, 1, 1});
  return axes;
}

BroadcastRow broadcast_row(const std::vector<BroadcastAxis>& axes, Index row) {
  BroadcastRow offset;
  for (std::size_t i = axes.size() - 1; i-- > 0;) {
    const Index index = row % axes[i].size;
    row /= axes[i].size;
    offset.a += index * axes[i].stride_a;
    offset.b += index * axes[i].stride_b;
  }
  return offset;
}

Tensor sum_to_shape(const Tensor& t, const Shape& shape) {
  if (t.shape() == shape) return t;
  if (t.empty()) return Tensor::zeros(shape);
  const auto axes = broadcast_axes(t.shape(), t.shape(), shape);
  Tensor sum(shape);
  if (axes.size() == 1 && axes[0].stride_b == 0) {  // all elements into one number
    double total = 0;
    for (const float value : t) total += static_cast<double>(value);
    sum[0] = static_cast<float>(total);
    return sum;
  }
  if (axes.size() == 2 && axes[0].stride_b == 0) {  // sum over rows: the gradient of a bias
    sum_rows(t.data(), axes[0].size, axes[1].size, sum.data());
    return sum;
  }
  std::fill(sum.begin(), sum.end(), 0.0f);
  const BroadcastAxis inner = axes.back();
  const Index rows = t.size() / inner.size;
  for (Index row = 0; row < rows; ++row) {
    const BroadcastRow offset = broadcast_row(axes, row);
    const float* from = t.data() + offset.a;
    float* to = sum.data() + offset.b;
    if (inner.stride_b == 0) {
      float total = 0;
      for (Index i = 0; i < inner.size; ++i) total += from[i];
      *to += total;
    } else {
      for (Index i = 0; i < inner.size; ++i) to[i] += from[i];
    }
  }
  return sum;
}

}  // namespace attnscope
