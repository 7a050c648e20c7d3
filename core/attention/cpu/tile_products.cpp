#include "core/attention/cpu/tile_products.h"

#include <algorithm>

namespace attnscope::cpu {

void TileProducts::scores(const Tile& tile, const float* a, const Packed& packed, Index head,
                          const float* rows, Index size, float* s, Index s_row, bool add) {
  if (tile.contiguous() && packed.defined()) {
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      packed.multiply(kernels_, n, a + row * size, size, head, tile.columns[0] + x, count,
                      s + row * s_row + x, s_row, add);
    });
  } else if (tile.rows == 1) {
    kernels_.dots(a, rows, tile.columns, tile.width, size, s, add);
  } else {
    const Index panels = (tile.width + panel_width - 1) / panel_width;
    panels_.resize(static_cast<std::size_t>(panels * panel_width * size));
    pack_rows(kernels_, rows, size, tile.columns, tile.width, panels_.data());
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      multiply_panels(kernels_, n, a + row * size, size, panels_.data(), size, x, count,
                      s + row * s_row + x, s_row, add);
    });
  }
}

void TileProducts::weighted_sum(const Tile& tile, const float* p, Index p_row, const float* rows,
                                Index size, float* sum) {
  if (tile.rows == 1) {
    const Extent& extent = tile.extents[0];
    kernels_.sum_rows(p + extent.begin, rows, tile.columns + extent.begin,
                      extent.end - extent.begin, size, sum);
    return;
  }
  const float* from = picked(tile, rows, size);
  each_band(tile, [&](Extent extent, Index row, Index n) {
    kernels_.multiply(n, size, extent.end - extent.begin, p + row * p_row + extent.begin, p_row, 1,
                      from + extent.begin * size, size, sum + row * size, size, true);
  });
}

void TileProducts::spread(const Tile& tile, const float* p, Index p_row, const float* a, Index size,
                          float* rows) {
  if (tile.rows == 1) {
    for (Index x = 0; x < tile.width; ++x) {
      kernels_.add_scaled(rows + tile.columns[x] * size, a, size, p[x]);
    }
  } else if (tile.contiguous()) {
    each_panel(tile, [&](Index x, Index count, Index row, Index n) {
      kernels_.multiply(count, size, n, p + row * p_row + x, 1, p_row, a + row * size, size,
                        rows + (tile.columns[0] + x) * size, size, true);
    });
  } else {
    gathered_.resize(static_cast<std::size_t>(tile.width * size));
    kernels_.multiply(tile.width, size, tile.rows, p, 1, p_row, a, size, gathered_.data(), size,
                      false);
    for (Index x = 0; x < tile.width; ++x) {
      kernels_.add_scaled(rows + tile.columns[x] * size, gathered_.data() + x * size, size, 1);
    }
  }
}

const float* TileProducts::picked(const Tile& tile, const float* rows, Index size) {
  if (tile.contiguous()) return rows + tile.columns[0] * size;
  gathered_.resize(static_cast<std::size_t>(tile.width * size));
  for (Index x = 0; x < tile.width; ++x) {
    std::copy_n(rows + tile.columns[x] * size, size, gathered_.data() + x * size);
  }
  return gathered_.data();
}

}  // namespace attnscope::cpu
