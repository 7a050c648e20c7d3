// Products of a tile with the rows (keys, values) of its columns.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "core/attention/cpu/columns.h"

namespace attnscope::cpu {

// `rows` is a matrix [L_k, size], from which the tile's columns select rows. Selected rows are used
// in place if the tile is contiguous, otherwise gathered. p and s: [tile.rows, tile.width]; cells
// outside the tile's extents are skipped, except by spread().
class TileProducts {
 public:
  explicit TileProducts(const RowKernels& kernels) : kernels_(kernels) {}

  // s (+)= a rows^T.  a: [tile.rows, size]; head `head` of `packed` contains `rows`.
  void scores(const Tile& tile, const float* a, const Packed& packed, Index head, const float* rows,
              Index size, float* s, Index s_stride, bool add);
  // sum += p rows.  sum: [tile.rows, size]
  void weighted_sum(const Tile& tile, const float* p, Index p_stride, const float* rows, Index size,
                    float* sum);
  // rows += p^T a.  a: [tile.rows, size]. p must be 0 outside the extents, see fill_outside().
  void spread(const Tile& tile, const float* p, Index p_stride, const float* a, Index size,
              float* rows);
  // The selected rows: a pointer into `rows` or to a copy, valid until the next call.
  const float* selected_rows(const Tile& tile, const float* rows, Index size);

 private:
  // Copy of a tile's selected rows. Consecutive blocks often begin with the same rows.
  struct Copy {
    const float* rows = nullptr;  // the matrix
    Index size = 0;
    std::vector<std::int32_t> columns;
    std::vector<float> numbers;
  };
  class Copies {
   public:
    // Storage for a copy of the tile's rows, and the number of rows that it already contains.
    std::pair<Copy*, Index> find(const Tile& tile, const float* rows, Index size);

   private:
    static constexpr Index matrices = 2, tiles = 4;  // cached matrices, and tiles of each
    std::array<Copy, matrices * tiles> copies_;
    std::array<const float*, matrices> matrices_{};
    Index next_ = 0;
  };

  const float* packed_rows(const Tile& tile, const float* rows, Index size);

  const RowKernels& kernels_;
  Copies panels_, gathered_;
  std::vector<float> sums_;
};

}  // namespace attnscope::cpu
