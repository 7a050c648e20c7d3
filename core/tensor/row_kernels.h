// Inner loops of attention and matrix products, compiled once per instruction set from
// row_kernels.inc and selected at run time.
//
// Data are float32 with contiguous rows; a matrix is a pointer and a row stride. No alignment is
// required. Results do not depend on the number of threads, but differ between instruction sets in
// the last bits (partial sums, fused multiply-add).
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnscope::cpu {

// Columns of a packed panel: two vectors of the widest instruction set.
inline constexpr std::ptrdiff_t panel_width = 32;
// Partial sums per row in powers(): one vector of the widest instruction set.
inline constexpr std::ptrdiff_t sum_lanes = 16;

struct RowKernels {
  using Size = std::ptrdiff_t;
  const char* name;  // "AVX-512"

  // c = a b, or c += a b if `add`.  a: [m, k], b: [k, n], c: [m, n]. Element (r, t) of a is at
  // a[r * a_row + t * a_column], so a transposed matrix needs no copy.
  void (*multiply)(Size m, Size n, Size k, const float* a, Size a_row, Size a_column,
                   const float* b, Size b_row, float* c, Size c_row, bool add);

  // panel[t * panel_width + x] = rows[x][t] for x < count; 0 in the remaining columns.
  void (*pack)(const float* const* rows, Size count, Size size, float* panel);

  // Powers of two of scores. The scores are not stored. For rows r < m of a and columns x in
  // [begin, end) of packed panels with k rows (`begin` and `end` are multiples of sum_lanes):
  //   p[r][x] = 2^(a_r . column x - shift[r]) for first[r] <= x < last[r], else 0,
  //   sums[r * sum_lanes + l] += sum of all p[r][x] computed in vector lane l.
  // shift: integers; every exponent must be in [-126, 126].
  void (*powers)(Size m, Size begin, Size end, Size k, const float* a, Size a_row,
                 const float* panels, const float* shift, const std::int32_t* first,
                 const std::int32_t* last, float* p, Size p_row, float* sums);

  float (*maximum)(const float* x, Size n);  // -infinity for n = 0, +infinity if any is NaN
  // x = exp(x - shift); requires x <= shift or x = -infinity. Returns the sum.
  float (*exponentials)(float* x, Size n, float shift);
  float (*sum)(const float* x, Size n);
  float (*dot)(const float* x, const float* y, Size n);
  // s[r] = dot(x, rows + r * row, n) for r < 4, with bit-identical results. Four sums at a time
  // hide the latency of additions.
  void (*four_dots)(const float* x, const float* rows, Size row, Size n, float* s);
  // Operations on rows r_x = rows[index[x]], x < count, of a matrix with rows of `size` numbers:
  //   dots: s[x] = a . r_x (+= if `add`),  gather: to[x] = r_x,  scatter: r_x += from[x],
  //   scatter_scaled: r_x += p[x] * row,    sum_rows: sum += sum_x p[x] r_x.
  void (*dots)(const float* a, const float* rows, const std::int32_t* index, Size count, Size size,
               float* s, bool add);
  void (*gather)(const float* rows, const std::int32_t* index, Size count, Size size, float* to);
  void (*scatter)(float* rows, const std::int32_t* index, Size count, Size size, const float* from);
  void (*scatter_scaled)(float* rows, const std::int32_t* index, Size count, Size size,
                         const float* p, const float* row);
  void (*sum_rows)(const float* p, const float* rows, const std::int32_t* index, Size count,
                   Size size, float* sum);
  void (*scale)(float* x, Size n, float factor);
  // to = factor x with non-temporal stores, for results that are not read soon. Other threads may
  // read them after a fence (std::atomic_thread_fence).
  void (*scale_to_memory)(float* to, const float* x, Size n, float factor);
  void (*scale_to)(float* to, const float* x, Size n, float factor);   // to = factor x
  void (*add_scaled)(float* x, const float* y, Size n, float factor);  // x += factor y
  void (*update_maximum)(float* most, const float* x, Size n,
                         float shift);  // most = max(most, x - shift)
  // to[i] = maximum or sum of x[2 i] and x[2 i + 1] for i < n. `to` may equal x.
  void (*max_of_pairs)(float* to, const float* x, Size n);
  void (*sum_of_pairs)(float* to, const float* x, Size n);
  // x = p (x - mean): gradient through a softmax with result p.
  void (*softmax_gradient)(float* x, const float* p, Size n, float mean);
  // to = GELU(x) = x (1 + erf(x / sqrt 2)) / 2 (Hendrycks and Gimpel, 2016, arXiv:1606.08415).
  void (*gelu)(float* to, const float* x, Size n);
  // to = gradient * GELU'(x), or to += ... if `add`.
  void (*gelu_gradient)(float* to, const float* gradient, const float* x, Size n, bool add);
};

// Kernels for the widest instruction set of this processor.
const RowKernels& row_kernels();

// All kernels that this processor can run, narrowest instruction set first.
struct RowKernelList {
  const RowKernels* const* first;
  const RowKernels* const* last;
  const RowKernels* const* begin() const { return first; }
  const RowKernels* const* end() const { return last; }
};
RowKernelList all_row_kernels();

}  // namespace attnscope::cpu
