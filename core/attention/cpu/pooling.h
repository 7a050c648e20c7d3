// From scores of pairs to cells that each pool some of them.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"
#include "core/attention/tiles.h"

namespace attnscope::cpu {

// A row of cells in the making: pairs of up to `step` rows come in any order, and a cell pools
// those of `step` columns. First rows are pooled into a line with a number per column, which is
// what vectors are good at; then, once, neighbours in the line.
//
// The largest of exponentials is the exponential of the largest: where the weights are those of a
// softmax and Max is asked for, one exponential is taken per cell and none per pair.
class CellRow {
 public:
  CellRow(const Prepared& prepared, const TileRequest& request)
      : kernels_(prepared.kernels),
        request_(request),
        softmax_(prepared.part.normaliser == Normaliser::Softmax ||
                 prepared.part.normaliser == Normaliser::SpanSoftmax),
        normalised_(prepared.part.normaliser != Normaliser::None) {}

  // The cells to make, [request.cell_columns()], which pool `rows` rows of pairs.
  void begin(float* cells, Index rows);
  // Scores of row r of the tile, whose log-sum-exp (or sum of features) is `sum`. Destroys them.
  void add(const Tile& tile, Index r, float* scores, float sum);
  void finish();

 private:
  bool pools_scores() const { return softmax_ && request_.pooling == Pooling::Max; }
  void add_line(float* numbers, Index first, Index count, float shift);
  void add_scattered(const Tile& tile, const float* numbers, Extent extent, float shift);
  void pool_neighbours();

  const RowKernels& kernels_;
  const TileRequest& request_;
  bool softmax_, normalised_;
  float* cells_ = nullptr;
  float* line_ = nullptr;  // [request.width]; cells_ itself where the step is 1
  std::vector<float> own_line_;
  Extent touched_;  // of the line; the rest is nothing but pairs without weight
  Index rows_ = 0;
};

}  // namespace attnscope::cpu
