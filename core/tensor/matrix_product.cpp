// Packs B into contiguous panels of columns, which are a few cache lines wide and short enough for
// the L1 cache. The row kernels multiply register tiles of A with a panel.
#include "core/tensor/matrix_product.h"

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/tensor/narrow_matrix.h"
#include "core/tensor/row_kernels.h"

namespace attnscope {
namespace {

using cpu::panel_width;
using cpu::RowKernels;

constexpr Index kMinParallelWork = Index{1} << 18;  // smaller products use one thread
constexpr Index kDepth = 192;      // maximum rows of a panel per pass (24 KiB in the L1 cache)
constexpr Index kMaxChunk = 2048;  // maximum rows of B packed at a time
constexpr Index kMaxPanels = 32;   // maximum panels per item of a parallel loop
constexpr Index kPackedNumbers = Index{1} << 18;  // of B (1 MiB)
constexpr Index kBlockNumbers = Index{1} << 16;   // of A; they stay in the L2 cache for all panels
constexpr Index kMinRowBlock = 48, kMaxRowBlock = 240;  // rows of A
constexpr Index kDots = 4;   // dot products at a time, see RowKernels::four_dots
constexpr Index kTile = 24;  // multiple of the rows of all register tiles

Index ceil_divide(Index a, Index b) {
  return (a + b - 1) / b;
}

const float* element(const Matrix& m, Index row, Index column) {
  return m.data + (m.transposed ? column * m.stride + row : row * m.stride + column);
}

// Packs rows [t, t + depth), columns [first, first + count) of B to panel [depth, panel_width].
void pack_panel(const RowKernels& kernels, const Matrix& b, Index t, Index depth, Index first,
                Index count, float* panel) {
  if (b.transposed) {
    const float* rows[panel_width];
    for (Index x = 0; x < count; ++x) rows[x] = element(b, t, first + x);
    kernels.pack(rows, count, depth, panel);
    return;
  }
  const float* from = element(b, t, first);
  if (count == panel_width) {  // a size known at compile time
    for (Index r = 0; r < depth; ++r) {
      for (Index x = 0; x < panel_width; ++x) panel[r * panel_width + x] = from[r * b.stride + x];
    }
  } else {
    for (Index r = 0; r < depth; ++r) {
      std::copy_n(from + r * b.stride, count, panel + r * panel_width);
    }
  }
}

void pack_panel(const RowKernels& kernels, const NarrowMatrix& b, Index t, Index depth, Index first,
                Index count, float* panel) {
  if (b.transposed) {
    thread_local std::vector<float> lines;  // [count, depth]
    lines.resize(static_cast<std::size_t>(count * depth));
    const float* rows[panel_width];
    for (Index x = 0; x < count; ++x) {
      float* line = lines.data() + x * depth;
      b.widen(first + x, t, depth, line);
      rows[x] = line;
    }
    kernels.pack(rows, count, depth, panel);
    return;
  }
  for (Index r = 0; r < depth; ++r) b.widen(t + r, first, count, panel + r * panel_width);
}

// Consecutive rows as stored, `stride` numbers apart.
struct StoredRows {
  const float* data = nullptr;
  Index stride = 0;
};

// Numbers [first, first + count) of the stored rows [row, row + rows). Rows of a NarrowMatrix are
// decoded to `scratch`, [rows, count].
StoredRows stored_rows(const Matrix& b, Index row, Index, Index first, Index, float*) {
  return {b.data + row * b.stride + first, b.stride};
}
StoredRows stored_rows(const NarrowMatrix& b, Index row, Index rows, Index first, Index count,
                       float* scratch) {
  for (Index r = 0; r < rows; ++r) b.widen(row + r, first, count, scratch + r * count);
  return {scratch, count};
}

// Adds the dot products of x with the stored rows [first, last) of `b` to `to`, if the rows consist
// of quantised blocks; these are not decoded to memory. False otherwise.
bool add_block_dots(const float*, const Matrix&, Index, Index, float*) {
  return false;
}
bool add_block_dots(const float* x, const NarrowMatrix& b, Index first, Index last, float* to) {
  if (!b.transposed || !b.has_block_rows()) return false;
  b.add_dots(first, last, x, to);
  return true;
}

// A rectangle of C, and the columns of A and rows of B that are added to it.
struct ProductBlock {
  Index row = 0, row_end = 0;        // of A and C
  Index first = 0, last = 0;         // columns of B and C
  Index t = 0, depth = 0, step = 0;  // columns [t, t + depth) of A; `step` per pass
  // Rows of A at a time.
  Index row_step() const {
    return std::clamp(kBlockNumbers / depth / kTile * kTile, kMinRowBlock, kMaxRowBlock);
  }
};

// Packs the block's rows and columns of B to panels [columns / panel_width, depth, panel_width].
template <class Right>
void pack_panels(const RowKernels& kernels, const Right& b, const ProductBlock& block,
                 float* panels) {
  for (Index x = block.first; x < block.last; x += panel_width) {
    for (Index t = 0; t < block.depth; t += block.step) {
      pack_panel(kernels, b, block.t + t, std::min(block.step, block.depth - t), x,
                 std::min(panel_width, block.last - x),
                 panels + (x - block.first) * block.depth + t * panel_width);
    }
  }
}

// Adds the product of A and the packed panels to the block of C, or stores it. All passes over a
// few rows and columns of C follow each other, so that these stay in the cache.
void multiply_block(const RowKernels& kernels, const Matrix& a, const float* panels,
                    const ProductBlock& block, float* c, Index c_stride, bool add) {
  const Index a_row = a.transposed ? 1 : a.stride, a_column = a.transposed ? a.stride : 1;
  const Index row_step = block.row_step();
  for (Index r = block.row; r < block.row_end; r += row_step) {
    if (is_stopping()) return;
    const Index rows = std::min(row_step, block.row_end - r);
    for (Index x = block.first; x < block.last; x += panel_width) {
      const float* panel = panels + (x - block.first) * block.depth;
      for (Index t = 0; t < block.depth; t += block.step) {
        kernels.multiply(rows, std::min(panel_width, block.last - x),
                         std::min(block.step, block.depth - t), element(a, r, block.t + t), a_row,
                         a_column, panel + t * panel_width, panel_width, c + r * c_stride + x,
                         c_stride, add || t > 0);
      }
    }
  }
}

// Computes rows [row, row_end) and columns [first, last) of C.
template <class Right>
void multiply_rectangle(const RowKernels& kernels, const Matrix& a, const Right& b, Index row,
                        Index row_end, Index first, Index last, float* c, Index c_stride,
                        bool add) {
  thread_local std::vector<float> panels;
  // Equal chunks and steps: a last step of few rows would be slow.
  const Index chunk = ceil_divide(a.columns, ceil_divide(a.columns, kMaxChunk));
  const Index width = std::max<Index>(1, kPackedNumbers / (chunk * panel_width)) * panel_width;
  for (Index t = 0; t < a.columns; t += chunk) {
    for (Index x = first; x < last; x += width) {
      ProductBlock block{row, row_end, x, std::min(x + width, last)};
      block.t = t;
      block.depth = std::min(chunk, a.columns - t);
      block.step = ceil_divide(block.depth, ceil_divide(block.depth, kDepth));
      const Index count = ceil_divide(block.last - block.first, panel_width) * panel_width;
      panels.resize(static_cast<std::size_t>(count * block.depth));
      pack_panels(kernels, b, block, panels.data());
      multiply_block(kernels, a, panels.data(), block, c, c_stride, add || t > 0);
      if (is_stopping()) return;
    }
  }
}

// Number of shares that the rows of A are divided into. A tall A is divided, because the thread
// that computed a row usually still has it in its cache. Other matrices are divided if there are
// fewer panels than threads.
Index row_shares(const Matrix& a, Index columns, Index panels) {
  const Index threads = thread_count(), min_shares = ceil_divide(threads, panels);
  if (a.transposed || a.rows <= columns) return min_shares;
  return std::max(min_shares, std::min(a.rows / kMaxRowBlock, threads));
}

template <class Right>
void multiply_panels(const Matrix& a, const Right& b, float* c, Index c_stride, bool add,
                     bool is_parallel) {
  const RowKernels& kernels = cpu::row_kernels();
  const Index panels = ceil_divide(b.columns, panel_width);
  const Index shares = is_parallel ? row_shares(a, b.columns, panels) : 1;
  const Index rows = ceil_divide(ceil_divide(a.rows, shares), kTile) * kTile;
  const Index items = ceil_divide(a.rows, rows) * panels;
  parallel_for(items, is_parallel ? 1 : items, [&](Index item, Index end) {
    while (item < end && !is_stopping()) {
      const Index row = item / panels * rows, panel = item % panels;
      const Index count = std::min({panels - panel, end - item, kMaxPanels});
      multiply_rectangle(kernels, a, b, row, std::min(row + rows, a.rows), panel * panel_width,
                         std::min((panel + count) * panel_width, b.columns), c, c_stride, add);
      item += count;
    }
  });
}

// Dot products of x with the stored rows [first, last) of `b`, added to `to`. `scratch` holds kDots
// rows.
template <class Right>
void add_dots(const RowKernels& kernels, const float* x, Index size, const Right& b, Index first,
              Index last, float* scratch, float* to) {
  for (Index row = first; row < last && !is_stopping(); row += kDots) {
    const Index count = std::min(kDots, last - row);
    const StoredRows rows = stored_rows(b, row, count, 0, size, scratch);
    float dots[kDots];
    if (count == kDots) {
      kernels.four_dots(x, rows.data, rows.stride, size, dots);
    } else {
      for (Index n = 0; n < count; ++n) dots[n] = kernels.dot(x, rows.data + n * rows.stride, size);
    }
    for (Index n = 0; n < count; ++n) to[row + n] += dots[n];
  }
}

// Row `r` of A as consecutive numbers: in place, or copied to `scratch`.
const float* contiguous_row(const Matrix& a, Index r, std::vector<float>& scratch) {
  if (!a.transposed) return element(a, r, 0);
  scratch.resize(static_cast<std::size_t>(a.columns));
  for (Index t = 0; t < a.columns; ++t) scratch[static_cast<std::size_t>(t)] = *element(a, r, t);
  return scratch.data();
}

// Product for few rows of A. For each row of A, reads B in place and in order.
template <class Right>
void multiply_small(const Matrix& a, const Right& b, float* c, Index c_stride, bool add,
                    bool is_parallel) {
  const RowKernels& kernels = cpu::row_kernels();
  std::vector<float> row_scratch;
  for (Index r = 0; r < a.rows; ++r) {
    const float* row = contiguous_row(a, r, row_scratch);
    float* to = c + r * c_stride;
    parallel_for(b.columns, is_parallel ? panel_width : b.columns, [&](Index first, Index last) {
      if (!add) std::fill(to + first, to + last, 0.0f);
      if (add_block_dots(row, b, first, last, to)) return;
      thread_local std::vector<float> scratch;
      scratch.resize(static_cast<std::size_t>(std::max(kDots * a.columns, last - first)));
      if (b.transposed) {
        add_dots(kernels, row, a.columns, b, first, last, scratch.data(), to);
        return;
      }
      for (Index t = 0; t < a.columns && !is_stopping(); ++t) {
        kernels.add_scaled(to + first,
                           stored_rows(b, t, 1, first, last - first, scratch.data()).data,
                           last - first, row[t]);
      }
    });
  }
}

template <class Right>
void multiply(const Matrix& a, const Right& b, float* c, Index c_stride, bool add) {
  const Index m = a.rows, n = b.columns;
  if (m == 0 || n == 0) return;
  const bool is_parallel = m * n * a.columns >= kMinParallelWork;
  // Packing a few rows would cost more than multiplying.
  if (m < kMinPanelRows || a.columns == 0) {
    multiply_small(a, b, c, c_stride, add, is_parallel);
  } else {
    multiply_panels(a, b, c, c_stride, add, is_parallel);
  }
}

}  // namespace

void multiply_matrices(const Matrix& a, const Matrix& b, float* c, Index c_stride, bool add) {
  multiply(a, b, c, c_stride, add);
}

void multiply_matrices(const Matrix& a, const NarrowMatrix& b, float* c, Index c_stride, bool add) {
  multiply(a, b, c, c_stride, add);
}

}  // namespace attnscope
