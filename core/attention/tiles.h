// Attention that is not kept: any rectangle of it, at any resolution, whenever somebody looks.
#pragma once

#include <memory>
#include <string>

#include "core/base/stop.h"
#include "core/part/part.h"

namespace attnscope {

// How the pairs of a cell become one number. Max: the weight of largest magnitude (of equals the
// positive one), which among the weights of a softmax is the largest. Mean: over all pairs of the
// cell, those that are not allowed counting as 0.
enum class Pooling { Max, Mean };

// Rows [row, row + height) and columns [column, column + width) of one map, `step` x `step` pairs a
// cell (fewer in the last row and column of cells).
struct TileRequest {
  Index head = 0;  // of B h
  Index row = 0, column = 0, height = 0, width = 0;
  Index step = 1;
  Pooling pooling = Pooling::Max;
  // Looks at one row of each `step` only, the middle one: a preview at 1 / step of the cost.
  bool sampled = false;

  Index cell_rows() const { return (height + step - 1) / step; }
  Index cell_columns() const { return (width + step - 1) / step; }
};

// The maps of a part, derived from its ingredients and its rows' log-sum-exp: memory is linear in
// the length. Safe to use from several threads at once.
class AttentionTiles {
 public:
  virtual ~AttentionTiles() = default;
  // Exact but for a sampled one.  [ceil(height / step), ceil(width / step)]
  // Throws Stopped within 50 ms of a request, WorkError when a device fails. The rectangle lies
  // within the map, and step is at least 1: std::logic_error.
  virtual Tensor tile(const TileRequest& request, const Stop& stop) const = 0;
  // Why tiles are not computed where they were to be; empty: they are.
  virtual std::string note() const { return {}; }
};

// On the CPU. log_sum_exp: as Backend::run reports it, [B h, L_q]; undefined where the part has no
// normaliser. What both sides need is made at the first request.
std::shared_ptr<const AttentionTiles> cpu_tiles(Part part, Tensor log_sum_exp);

// std::logic_error where a request does not lie within maps [B h, queries, keys].
void check(const TileRequest& request, Index heads, Index queries, Index keys);

}  // namespace attnscope
