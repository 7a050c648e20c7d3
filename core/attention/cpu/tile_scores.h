// Scores of a tile from the ingredients of a part, and their gradients.
#pragma once

#include <vector>

#include "core/attention/cpu/columns.h"
#include "core/attention/cpu/gradients.h"
#include "core/attention/cpu/offsets.h"
#include "core/attention/cpu/tile_products.h"

namespace attnscope::cpu {

// m_z(o) = clamp((R + z - o) / R, 0, 1) of a pair with position offset o (Sukhbaatar et al., 2019,
// arXiv:1905.07799).
float span_weight(const Prepared& prepared, Index pair, Index query, Index key);

// Processes one tile at a time; one instance per thread.
class TileScores {
 public:
  explicit TileScores(const Prepared& prepared)
      : prepared_(prepared), products_(prepared.kernels) {}

  // Sets the columns to which the next tiles belong.
  void set_columns(RowColumns& columns) { columns_ = &columns; }

  // Computes s_ic (core/part/part.h), or `hidden_score` if the pair is not allowed. Cells outside
  // the extents stay undefined.  s: [tile.rows, tile.width]. After compute(), hide_beyond_span()
  // writes `hidden_score` to pairs beyond the span, and add_span() adds log m_z(o), which is
  // -infinity beyond the span.
  void compute(const Tile& tile, float* s, Index s_stride, float hidden_score);
  void add_span(const Tile& tile, float* s, Index s_stride);
  void hide_beyond_span(const Tile& tile, float* s, Index s_stride, float hidden_score);

  // Adds the gradients of all score ingredients to `gradients`. The last compute() must have been
  // of this tile. ds: gradients of the scores, 0 outside the extents and for pairs that are not
  // allowed; overwritten.
  void backward(const Tile& tile, float* ds, Index ds_stride, Gradients& gradients, Index slice);

  // sum_r += sum_x p_rx value_rows[bucket of (r, x)].  sum: [tile.rows, d_v]
  void add_value_rows(const Tile& tile, const float* p, Index p_stride, float* sum);
  // dp_rx += d_output_r . value_rows[bucket]. Also adds the gradient of value_rows to `gradients`.
  void value_rows_backward(const Tile& tile, const float* p, Index p_stride, const float* d_output,
                           float* dp, Index dp_stride, Gradients& gradients, Index slice);

  TileProducts& products() { return products_; }

 private:
  void add_product(const Tile& tile, const float* q, const Packed& packed, Index head,
                   const float* k, Index size, float* s, Index s_stride, bool add);
  void compute_product(const Tile& tile, float* s, Index s_stride);
  void compute_additive(const Tile& tile, float* s, Index s_stride) const;
  void compute_logits(const Tile& tile, float* s, Index s_stride);
  void cap(const Tile& tile, float* s, Index s_stride);
  const float* scaled_rows(const Tile& tile, const float* rows, Index size, std::vector<float>& to);
  void add_table(const Tile& tile, const Prepared::Table& table, float factor, float* s,
                 Index s_stride);
  void add_query_rows(const Tile& tile, const Prepared::Rows& rows, float* s, Index s_stride);
  void add_key_rows(const Tile& tile, const Prepared::Rows& rows, float* s, Index s_stride);

  void product_backward(const Tile& tile, float* ds, Index ds_stride, Gradients& gradients,
                        Index slice);
  void additive_backward(const Tile& tile, const float* ds, Index ds_stride, Gradients& gradients,
                         Index slice);
  void logits_backward(const Tile& tile, const float* ds, Index ds_stride, Gradients& gradients);
  void span_backward(const Tile& tile, const float* ds, Index ds_stride, Gradients& gradients,
                     Index slice);
  void table_backward(const Tile& tile, const Prepared::Table& table, const float* ds,
                      Index ds_stride, float factor, float* d_table);
  void add_scaled_sum(const Tile& tile, const float* ds, Index ds_stride, const float* rows,
                      Index size, float* sum);
  void query_rows_backward(const Tile& tile, const Prepared::Rows& rows, const float* ds,
                           Index ds_stride, Gradients& gradients, Index slice);
  void key_rows_backward(const Tile& tile, const Prepared::Rows& rows, const float* ds,
                         Index ds_stride, Gradients& gradients, Index slice, GradientSum& d_rows);

  const Prepared& prepared_;
  RowColumns* columns_ = nullptr;
  TileProducts products_;
  TileOffsets offsets_;
  std::vector<float> by_bucket_;     // scratch  [rows or columns, buckets]
  std::vector<float> product_;       // scale * q . k before the ReLU  [rows, width]
  std::vector<float> capped_;        // tanh(s / score_cap)  [rows, width]
  std::vector<float> unscaled_;      // scores before the factor  [rows, width]
  const float* scaled_q_ = nullptr;  // scale * q of the tile's rows  [rows, d_k]
  std::vector<float> scaled_q_numbers_, scaled_numbers_;
};

}  // namespace attnscope::cpu
