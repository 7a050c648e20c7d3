#include "core/attention/cpu/packed.h"

#include <algorithm>

#include "core/base/parallel.h"

namespace attnscope::cpu {
namespace {

Index panel_count(Index rows) {
  return (rows + panel_width - 1) / panel_width;
}

// Packs one panel from at most panel_width rows; row(x) returns a pointer to row x.
template <class Row>
void pack_rows_at(const RowKernels& kernels, Index count, Index size, Row row, float* panel) {
  const float* rows[panel_width];
  for (Index x = 0; x < count; ++x) rows[x] = row(x);
  kernels.pack(rows, count, size, panel);
}

}  // namespace

Packed::Packed(const RowKernels& kernels, const float* rows, Index heads, Index count, Index size,
               Index stride)
    : count_(count), size_(size), panels_({heads, panel_count(count), size, panel_width}) {
  const Index panels_per_head = panel_count(count);
  parallel_for(heads * panels_per_head, 8, [&](Index first, Index last) {
    for (Index p = first; p < last; ++p) {
      const Index begin = p % panels_per_head * panel_width;
      pack_panel(kernels, rows + (p / panels_per_head * stride + begin) * size,
                 std::min(panel_width, count - begin), size,
                 panels_.data() + p * size * panel_width);
    }
  });
}

const float* Packed::panel(Index head, Index panel) const {
  return panels_.data() + (head * panel_count(count_) + panel) * size_ * panel_width;
}

void Packed::multiply(const RowKernels& kernels, Index m, const float* a, Index a_stride,
                      Index head, Index first, Index n, float* c, Index c_stride, bool add) const {
  multiply_panels(kernels, m, a, a_stride, panel(head, 0), size_, first, n, c, c_stride, add);
}

void pack_panel(const RowKernels& kernels, const float* rows, Index count, Index size,
                float* panel) {
  pack_rows_at(
      kernels, count, size, [&](Index x) { return rows + x * size; }, panel);
}

void pack_rows(const RowKernels& kernels, const float* rows, Index size,
               const std::int32_t* columns, Index count, float* panels) {
  // Prefetches all rows of a panel, because scattered rows have a high latency.
  constexpr Index cache_line = 16;  // floats
  for (Index begin = 0; begin < count; begin += panel_width) {
    for (Index x = begin; x < std::min(begin + panel_width, count); ++x) {
      const float* row = rows + columns[x] * size;
      for (Index t = 0; t < size; t += cache_line) __builtin_prefetch(row + t);
    }
    pack_rows_at(
        kernels, std::min(panel_width, count - begin), size,
        [&](Index x) { return rows + columns[begin + x] * size; }, panels + begin * size);
  }
}

void multiply_panels(const RowKernels& kernels, Index m, const float* a, Index a_stride,
                     const float* panels, Index size, Index first, Index n, float* c,
                     Index c_stride, bool add) {
  for (Index x = 0; x < n;) {
    const Index panel_column = (first + x) % panel_width;
    const Index count = std::min(panel_width - panel_column, n - x);
    const float* panel = panels + (first + x - panel_column) * size + panel_column;
    kernels.multiply(m, count, size, a, a_stride, 1, panel, panel_width, c + x, c_stride, add);
    x += count;
  }
}

}  // namespace attnscope::cpu
