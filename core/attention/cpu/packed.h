// Matrix of rows, transposed in panels for sequential memory access in products.
#pragma once

#include "core/tensor/row_kernels.h"
#include "core/tensor/tensor.h"

namespace attnscope::cpu {

// Rows [heads, count, size] as panels [heads, ceil(count / panel_width), size, panel_width]; the
// last panel is padded with zeros.
class Packed {
 public:
  Packed() = default;
  // Packs the first `count` of `stride` rows of each head.
  Packed(const RowKernels& kernels, const float* rows, Index heads, Index count, Index size,
         Index stride);
  Packed(const RowKernels& kernels, const float* rows, Index heads, Index count, Index size)
      : Packed(kernels, rows, heads, count, size, count) {}
  bool defined() const { return panels_.defined(); }

  const float* panel(Index head, Index panel) const;  // [size, panel_width]

  // c[m, n] (+)= a[m, size] . R^T, where R[n, size] is rows [first, first + n) of the head.
  void multiply(const RowKernels& kernels, Index m, const float* a, Index a_stride, Index head,
                Index first, Index n, float* c, Index c_stride, bool add) const;

 private:
  Index count_ = 0, size_ = 0;
  Tensor panels_;
};

// Packs one panel of `count` consecutive rows, at most panel_width.
void pack_panel(const RowKernels& kernels, const float* rows, Index count, Index size,
                float* panel);
// Packs panels of `count` rows of `size` numbers; row x begins at rows + columns[x] * size.
void pack_rows(const RowKernels& kernels, const float* rows, Index size,
               const std::int32_t* columns, Index count, float* panels);
// c[m, n] (+)= a[m, size] . R^T, where R[n, size] is rows [first, first + n) of `panels`.
void multiply_panels(const RowKernels& kernels, Index m, const float* a, Index a_stride,
                     const float* panels, Index size, Index first, Index n, float* c,
                     Index c_stride, bool add);

}  // namespace attnscope::cpu
