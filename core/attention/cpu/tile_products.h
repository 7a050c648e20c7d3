// Products of a tile with the rows (keys, values) that belong to its columns.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"

namespace attnscope::cpu {

// Cells of p and s outside of the tile's extents are left out, but see spread().
//
// `rows` is a matrix [L_k, size] of which the tile's columns pick rows, in order where the tile is
// contiguous and gathered otherwise. p and s: [tile.rows, tile.width].
class TileProducts {
 public:
  explicit TileProducts(const RowKernels& kernels) : kernels_(kernels) {}

  // s (+)= a rows^T.  a: [tile.rows, size]; `packed` holds `rows` as its head `head`.
  void scores(const Tile& tile, const float* a, const Packed& packed, Index head, const float* rows,
              Index size, float* s, Index s_row, bool add);
  // sum += p rows.  sum: [tile.rows, size]
  void weighted_sum(const Tile& tile, const float* p, Index p_row, const float* rows, Index size,
                    float* sum);
  // rows += p^T a.  a: [tile.rows, size]. p must be 0 outside of the extents: fill_outside().
  void spread(const Tile& tile, const float* p, Index p_row, const float* a, Index size,
              float* rows);
  // The picked rows themselves: a pointer into `rows` or to a copy, valid until the next call.
  const float* picked(const Tile& tile, const float* rows, Index size);

 private:
  const RowKernels& kernels_;
  std::vector<float> panels_, gathered_;
};

}  // namespace attnscope::cpu
