#include "core/attention/variants/shared/windows.h"

#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

// Pads x [N, L, e] with zeros to `rows` rows.
Var pad_rows(const Var& x, Index rows) {
  if (x.dim(1) == rows) return x;
  return concat({x, Tensor::zeros({x.dim(0), rows - x.dim(1), x.dim(2)})}, 1);
}

}  // namespace

Index window_count(Index rows, Index size) {
  return (rows + size - 1) / size;
}

Var window_convolution(const Var& x, const Var& weights, Index heads, Index size, Index windows) {
  const Index e = x.dim(2), batch = x.dim(0) / heads;
  const Var padded = pad_rows(x, windows * size);                               // [N, n s, e]
  const Var split = reshape(padded, {batch, heads, windows, size, e});          // [B, h, n, s, e]
  const Var weighted = multiply(split, reshape(weights, {heads, 1, size, 1}));  // [B, h, n, s, e]
  return reshape(sum_axis(weighted, 3), {x.dim(0), windows, e});                // [N, n, e]
}

Tensor mean_matrix(Index rows, Index size, Index windows) {
  Tensor matrix = Tensor::zeros({windows, rows});
  for (Index window = 0; window < windows; ++window) {
    const Index first = window * size, end = std::min(rows, first + size);
    for (Index row = first; row < end; ++row) {
      matrix(window, row) = 1.0f / static_cast<float>(end - first);
    }
  }
  return matrix;
}

Var window_mean(const Var& x, Index size, Index windows) {
  Tensor weights({windows, size, 1});
  for (Index window = 0; window < windows; ++window) {
    const Index rows_in_window = std::clamp<Index>(x.dim(1) - window * size, 1, size);
    std::fill_n(weights.data() + window * size, size, 1.0f / static_cast<float>(rows_in_window));
  }
  const Var padded = pad_rows(x, windows * size);                          // [N, n s, e]
  const Var split = reshape(padded, {x.dim(0), windows, size, x.dim(2)});  // [N, n, s, e]
  return sum_axis(multiply(split, weights), 2);                            // [N, n, e]
}

Var window_max(const Var& x, Index size, Index windows) {
  const Index rows = x.dim(1), e = x.dim(2), used_windows = window_count(rows, size);
  IntTensor indices({x.dim(0), used_windows, e});
  const float* numbers = x.value().data();
  Index position = 0;
  for (Index n = 0; n < x.dim(0); ++n) {
    for (Index window = 0; window < used_windows; ++window) {
      const Index end = std::min(rows, (window + 1) * size);
      for (Index column = 0; column < e; ++column) {
        Index best = (n * rows + window * size) * e + column;
        for (Index row = window * size + 1; row < end; ++row) {
          const Index index = (n * rows + row) * e + column;
          if (numbers[index] > numbers[best]) best = index;
        }
        indices[position++] = static_cast<std::int32_t>(best);
      }
    }
  }
  const Var maxima = gather(reshape(x, {x.value().size(), 1}), indices);  // [N, n, e, 1]
  return pad_rows(reshape(maxima, indices.shape()), windows);             // [N, windows, e]
}

Var combine_rows(const Var& matrix, const Var& x) {
  return transpose(matmul_transposed(transpose(x), matrix));  // [N, n, e]
}

}  // namespace attnscope
