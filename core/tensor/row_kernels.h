// The few inner loops in which attention and matrix products spend their time, compiled once per
// instruction set from one source (row_kernels.inc) and chosen when the program runs.
//
// Numbers are float32, rows contiguous; a matrix is a pointer and the distance of its rows. No
// alignment is required. Results do not depend on the number of threads, but do differ between
// instruction sets in the last bits (width of partial sums, fused multiply-add).
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnscope::cpu {

// Columns of a packed panel: two vectors of the widest instruction set.
inline constexpr std::ptrdiff_t panel_width = 32;
// Partial sums that powers() keeps of a row: a vector of the widest instruction set.
inline constexpr std::ptrdiff_t sum_lanes = 16;

struct RowKernels {
  using Size = std::ptrdiff_t;
  const char* name;  // "AVX-512"

  // c = a b, or c += a b where `add`.  a: [m, k], b: [k, n], c: [m, n]. Element (r, t) of a is at
  // a[r * a_row + t * a_column], so that a transposed matrix needs no copy.
  void (*multiply)(Size m, Size n, Size k, const float* a, Size a_row, Size a_column,
                   const float* b, Size b_row, float* c, Size c_row, bool add);

  // panel[t * panel_width + x] = rows[x][t] for x < count; 0 for the panel's other columns.
  void (*pack)(const float* const* rows, Size count, Size size, float* panel);

  // Powers of two of scores, which never leave the registers. For rows r < m and columns x in
  // [begin, end), multiples of sum_lanes, of panels of k lines each:
  //   p[r][x] = 2^(a_r . column x - shift[r]) for first[r] <= x < last[r], 0 for the others,
  //   sums[r * sum_lanes + l] += those of them that fall to lane l.
  // shift: whole numbers; no exponent may leave [-126, 126].
  void (*powers)(Size m, Size begin, Size end, Size k, const float* a, Size a_row,
                 const float* panels, const float* shift, const std::int32_t* first,
                 const std::int32_t* last, float* p, Size p_row, float* sums);

  float (*maximum)(const float* x, Size n);  // -infinity for n = 0, infinity with a NaN
  // x = exp(x - shift), where x <= shift or x = -infinity; returns the sum.
  float (*exponentials)(float* x, Size n, float shift);
  float (*sum)(const float* x, Size n);
  float (*dot)(const float* x, const float* y, Size n);
  // Rows of a matrix, picked by their numbers: s[x] = a . rows[picked[x]] (+= where `add`),
  // to[x] = rows[picked[x]], rows[picked[x]] += from[x], rows[picked[x]] += p[x] row, and
  // sum += sum_x p[x] rows[picked[x]]. Rows have `size` numbers and no
  // gaps between them.
  void (*dots)(const float* a, const float* rows, const std::int32_t* picked, Size count, Size size,
               float* s, bool add);
  void (*gather)(const float* rows, const std::int32_t* picked, Size count, Size size, float* to);
  void (*scatter)(float* rows, const std::int32_t* picked, Size count, Size size,
                  const float* from);
  void (*scatter_scaled)(float* rows, const std::int32_t* picked, Size count, Size size,
                         const float* p, const float* row);
  void (*sum_rows)(const float* p, const float* rows, const std::int32_t* picked, Size count,
                   Size size, float* sum);
  void (*scale)(float* x, Size n, float factor);
  // to = factor x, past the caches: for results that nobody reads soon. Other threads may read them
  // after a fence (std::atomic_thread_fence).
  void (*scale_to_memory)(float* to, const float* x, Size n, float factor);
  void (*scale_to)(float* to, const float* x, Size n, float factor);   // to = factor x
  void (*add_scaled)(float* x, const float* y, Size n, float factor);  // x += factor y
  void (*raise)(float* most, const float* x, Size n, float shift);  // most = max(most, x - shift)
  // to[i] = the larger (the sum) of x[2 i] and x[2 i + 1] for i < n. `to` may be x.
  void (*larger_of_pairs)(float* to, const float* x, Size n);
  void (*sums_of_pairs)(float* to, const float* x, Size n);
  // x = p (x - mean): through a softmax whose result is p.
  void (*softmax_gradient)(float* x, const float* p, Size n, float mean);
};

// The widest that this processor runs.
const RowKernels& row_kernels();

// By instruction set, narrowest first; those that this processor cannot run are left out.
struct RowKernelList {
  const RowKernels* const* first;
  const RowKernels* const* last;
  const RowKernels* const* begin() const { return first; }
  const RowKernels* const* end() const { return last; }
};
RowKernelList all_row_kernels();

}  // namespace attnscope::cpu
