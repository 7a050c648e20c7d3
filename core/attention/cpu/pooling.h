// Pooling of scores into cells.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"
#include "core/attention/tiles.h"

namespace attnscope::cpu {

// Pools one row of cells, each of up to `step` x `step` pairs. Rows of pairs are first pooled into
// a line with a number per column, which vectorises; finish() then pools `step` neighbours in the
// line.
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

  // Begins a row of output cells, [request.cell_columns()], that pool `rows` rows of pairs.
  void begin(float* cells, Index rows);
  // Adds row r of the tile. Overwrites `scores`; `sum` is the row's log-sum-exp, or its sum of
  // feature products.
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
  Extent line_extent_;  // range of columns of the line with weights
  Index rows_ = 0;
};

}  // namespace attnscope::cpu
