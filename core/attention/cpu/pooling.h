// Pooling of scores into cells.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"
#include "core/attention/tiles.h"

namespace attnscope::cpu {

// Pools one row of cells, each of up to `step` x `step` pairs. add() pools rows of pairs into a
// line with one number per column, in a vectorised loop; finish() pools every `step` neighbours of
// the line into a cell.
//
// The maximum of exponentials is the exponential of the maximum: for softmax weights and Max, one
// exponential is computed per cell instead of one per pair.
class CellRow {
 public:
  CellRow(const Prepared& prepared, const TileRequest& request)
      : kernels_(prepared.kernels),
        request_(request),
        is_softmax_(prepared.part.normaliser == Normaliser::Softmax ||
                    prepared.part.normaliser == Normaliser::SpanSoftmax),
        is_normalised_(prepared.part.normaliser != Normaliser::None) {}

  // Begins a row of cells that pools `rows` rows of pairs. cells: [request.cell_columns()]
  void begin(float* cells, Index rows);
  // Adds row r of the tile. Overwrites `scores`. sum: the row's log-sum-exp, or its sum of feature
  // products.
  void add(const Tile& tile, Index r, float* scores, float sum);
  void finish();

 private:
  bool pools_scores() const { return is_softmax_ && request_.pooling == Pooling::Max; }
  void add_line(float* numbers, Index first, Index count, float shift);
  void add_scattered(const Tile& tile, const float* numbers, Extent extent, float shift);
  void pool_neighbours();

  const RowKernels& kernels_;
  const TileRequest& request_;
  bool is_softmax_, is_normalised_;
  float* cells_ = nullptr;
  float* line_ = nullptr;  // [request.width]; cells_ itself if the step is 1
  std::vector<float> line_buffer_;
  Extent line_extent_;  // columns of the line to which add() wrote
  Index rows_ = 0;
};

}  // namespace attnscope::cpu
