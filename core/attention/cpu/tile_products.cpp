#include "core/attention/cpu/tile_products.h"

#include <algorithm>

namespace attnscope::cpu {

void TileProducts::scores(const Tile& tile, const float* a, const Packed& packed, Index head,
                          const float* rows, Index size, float* s, Index s_stride, bool add) {
  if (tile.is_contiguous() && packed.defined()) {
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      packed.multiply(kernels_, n, a + row * size, size, head, tile.columns[0] + x, count,
                      s + row * s_stride + x, s_stride, add);
    });
  } else if (tile.rows == 1) {
    kernels_.dots(a, rows, tile.columns, tile.width, size, s, add);
  } else {
    const float* panels = packed_rows(tile, rows, size);
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      multiply_panels(kernels_, n, a + row * size, size, panels, size, x, count,
                      s + row * s_stride + x, s_stride, add);
    });
  }
}

void TileProducts::weighted_sum(const Tile& tile, const float* p, Index p_stride, const float* rows,
                                Index size, float* sum) {
  if (tile.rows == 1) {
    const Extent& extent = tile.extents[0];
    kernels_.sum_rows(p + extent.begin, rows, tile.columns + extent.begin,
                      extent.end - extent.begin, size, sum);
    return;
  }
  const float* from = selected_rows(tile, rows, size);
  each_band(tile, [&](Extent extent, Index row, Index n) {
    kernels_.multiply(n, size, extent.end - extent.begin, p + row * p_stride + extent.begin,
                      p_stride, 1, from + extent.begin * size, size, sum + row * size, size, true);
  });
}

void TileProducts::spread(const Tile& tile, const float* p, Index p_stride, const float* a,
                          Index size, float* rows) {
  if (tile.rows == 1) {
    kernels_.scatter_scaled(rows, tile.columns, tile.width, size, p, a);
  } else if (tile.is_contiguous()) {
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      kernels_.multiply(count, size, n, p + row * p_stride + x, 1, p_stride, a + row * size, size,
                        rows + (tile.columns[0] + x) * size, size, true);
    });
  } else {
    sums_.resize(static_cast<std::size_t>(tile.width * size));
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      kernels_.multiply(count, size, n, p + row * p_stride + x, 1, p_stride, a + row * size, size,
                        sums_.data() + x * size, size, false);
      kernels_.scatter(rows, tile.columns + x, count, size, sums_.data() + x * size);
    });
  }
}

const float* TileProducts::selected_rows(const Tile& tile, const float* rows, Index size) {
  if (tile.is_contiguous()) return rows + tile.columns[0] * size;
  const auto [copy, valid] = gathered_.find(tile, rows, size);
  copy->numbers.resize(static_cast<std::size_t>(tile_columns * size));
  kernels_.gather(rows, tile.columns + valid, tile.width - valid, size,
                  copy->numbers.data() + valid * size);
  return copy->numbers.data();
}

const float* TileProducts::packed_rows(const Tile& tile, const float* rows, Index size) {
  const auto [copy, found] = panels_.find(tile, rows, size);
  // The last panel may be incomplete.
  const Index valid = found == tile.width ? found : found / panel_width * panel_width;
  copy->numbers.resize(static_cast<std::size_t>(tile_columns * size));
  pack_rows(kernels_, rows, size, tile.columns + valid, tile.width - valid,
            copy->numbers.data() + valid * size);
  return copy->numbers.data();
}

std::pair<TileProducts::Copy*, Index> TileProducts::Copies::find(const Tile& tile,
                                                                 const float* rows, Index size) {
  Index matrix = std::find(matrices_.begin(), matrices_.end(), rows) - matrices_.begin();
  if (matrix == matrices) {
    matrix = next_;
    next_ = (next_ + 1) % matrices;
    matrices_[static_cast<std::size_t>(matrix)] = rows;
  }
  Copy& copy =
      copies_[static_cast<std::size_t>(matrix * tiles + tile.first / tile_columns % tiles)];
  if (copy.rows != rows || copy.size != size) copy.columns.clear();
  copy.rows = rows;
  copy.size = size;
  const std::int32_t* const end = tile.columns + tile.width;
  const auto count = std::min<Index>(tile.width, static_cast<Index>(copy.columns.size()));
  const Index valid =
      std::mismatch(tile.columns, tile.columns + count, copy.columns.begin()).first - tile.columns;
  if (valid < tile.width) copy.columns.assign(tile.columns, end);
  return {&copy, valid};
}

}  // namespace attnscope::cpu
