// Attention maps that are not stored: any rectangle at any resolution, computed on demand.
#pragma once

#include <memory>
#include <string>

#include "core/part/part.h"

namespace attnscope {

// Reduction of a cell's pairs to one number. Max: the weight of largest magnitude; among weights of
// equal magnitude, the positive one. Mean: the mean weight of all pairs, where pairs that are not
// allowed count as 0.
enum class Pooling { Max, Mean };

// Rows [row, row + height) and columns [column, column + width) of one map, divided into cells of
// `step` x `step` pairs. Cells at the bottom and right borders may have fewer pairs.
struct TileRequest {
  Index head = 0;  // in [0, B h)
  Index row = 0, column = 0, height = 0, width = 0;
  Index step = 1;
  Pooling pooling = Pooling::Max;
  // Uses only the middle row of each `step` rows: a preview at 1 / step of the cost.
  bool sampled = false;

  Index cell_rows() const { return (height + step - 1) / step; }
  Index cell_columns() const { return (width + step - 1) / step; }
};

// Maps of a part, computed from its ingredients and the log-sum-exp of its rows. Memory is linear
// in the number of tokens. Thread-safe.
class AttentionTiles {
 public:
  virtual ~AttentionTiles() = default;
  // Cells of the rectangle, exact unless `sampled`.  [ceil(height / step), ceil(width / step)]
  // Throws Stopped within 50 ms of a stop request, WorkError if the device fails, std::logic_error
  // if the rectangle exceeds the map or step < 1.
  virtual Tensor tile(const TileRequest& request) const = 0;
  // Reason why tiles are not computed on the requested device; empty if they are.
  virtual std::string note() const { return {}; }
};

// Tiles computed on the CPU. log_sum_exp: result of Backend::run, [B h, L_q]; undefined if the part
// has no normaliser. The first request prepares data that all requests share.
std::shared_ptr<const AttentionTiles> cpu_tiles(Part part, Tensor log_sum_exp);

// Throws std::logic_error if the request exceeds maps [B h, queries, keys]; heads: B h.
void check(const TileRequest& request, Index heads, Index queries, Index keys);

}  // namespace attnscope
