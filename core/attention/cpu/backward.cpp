// Backward pass, by blocks of rows (Dao et al., 2022, arXiv:2205.14135). With the probabilities P
// computed anew from the scores and the rows' log-sum-exp, and D_i = d output_i . output_i:
//   d V += P^T d output          d P = d output V^T (+ value rows)
//   d S = P (d P - D)            then through the scores to every ingredient: TileScores

#include <algorithm>
#include <cmath>

#include "core/attention/cpu/linear.h"
#include "core/attention/cpu/passes.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/base/parallel.h"

namespace attnscope::cpu {

namespace {

// Slices of rows that get sums of their own where there are few heads. The number must not depend
// on the number of threads: results would.
constexpr Index least_work_items = 16;

class BackwardRows {
 public:
  BackwardRows(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
               Gradients& gradients)
      : prepared_(prepared),
        result_(result),
        d_output_(d_output),
        gradients_(gradients),
        columns_(prepared),
        scores_(prepared, columns_) {}

  void run(Index pair, Index row, Index end, Index slice, const Stop& stop) {
    while (row < end && !stop.requested()) {
      const Index rows = columns_.choose(pair, row, end - row);
      run_block(pair, row, rows, slice, stop);
      row += rows;
    }
  }

 private:
  void run_block(Index pair, Index row, Index rows, Index slice, const Stop& stop);
  void weigh(const Tile& tile);
  void through_normaliser(const Tile& tile);

  const Prepared& prepared_;
  const PartResult& result_;
  const Tensor& d_output_;
  Gradients& gradients_;
  BlockColumns columns_;
  TileScores scores_;
  std::vector<float> p_, dp_;  // [rows, tile width]
  std::vector<float> mean_;    // D of each row
};

void BackwardRows::run_block(Index pair, Index row, Index rows, Index slice, const Stop& stop) {
  const Index size = prepared_.value_size;
  const Index at = (pair * prepared_.queries + row) * size;
  const float* d_output = d_output_.data() + at;
  const float* output = result_.output.data() + at;
  const Index kv = prepared_.key_head(pair);
  p_.resize(static_cast<std::size_t>(rows * tile_columns));
  dp_.resize(static_cast<std::size_t>(rows * tile_columns));
  mean_.resize(static_cast<std::size_t>(rows));
  for (Index r = 0; r < rows; ++r) {
    mean_[static_cast<std::size_t>(r)] =
        prepared_.kernels.dot(d_output + r * size, output + r * size, size);
  }
  for (Index begin = 0; begin < columns_.count() && !stop.requested();) {
    const Tile tile = columns_.tile(begin);
    const bool softmax = prepared_.part.normaliser == Normaliser::Softmax ||
                         prepared_.part.normaliser == Normaliser::SpanSoftmax;
    scores_.compute(tile, p_.data(), tile.width,
                    softmax ? -std::numeric_limits<float>::infinity() : 0);
    weigh(tile);
    if (gradients_.v.wanted()) {
      scores_.products().spread(tile, p_.data(), tile.width, d_output, size,
                                gradients_.v.at(slice, kv));
    }
    scores_.products().scores(tile, d_output, prepared_.packed_v, kv, prepared_.v(pair), size,
                              dp_.data(), tile.width, false);
    scores_.value_rows_backward(tile, p_.data(), tile.width, d_output, dp_.data(), tile.width,
                                gradients_, slice);
    through_normaliser(tile);
    scores_.backward(tile, dp_.data(), tile.width, gradients_, slice);
    begin += tile.width;
  }
}

// Scores become the weights that the values had.
void BackwardRows::weigh(const Tile& tile) {
  const Normaliser normaliser = prepared_.part.normaliser;
  if (normaliser == Normaliser::SpanSoftmax) scores_.add_span(tile, p_.data(), tile.width);
  for (Index r = 0; r < tile.rows && normaliser != Normaliser::None; ++r) {
    const Extent extent = tile.extent(r);
    float* p = p_.data() + r * tile.width + extent.begin;
    const float sum = result_.log_sum_exp(tile.pair, tile.row + r);
    if (normaliser == Normaliser::FeatureRatio) {
      prepared_.kernels.scale(p, extent.end - extent.begin, sum == 0 ? 0 : 1 / sum);
    } else if (std::isinf(sum)) {
      std::fill_n(p, extent.end - extent.begin, 0.0F);
    } else {
      prepared_.kernels.exponentials(p, extent.end - extent.begin, sum);
    }
  }
  fill_outside(tile, p_.data(), tile.width, 0);
}

// dp_ becomes the gradient of the scores.
void BackwardRows::through_normaliser(const Tile& tile) {
  const Normaliser normaliser = prepared_.part.normaliser;
  for (Index r = 0; r < tile.rows && normaliser != Normaliser::None; ++r) {
    const Extent extent = tile.extent(r);
    float* dp = dp_.data() + r * tile.width + extent.begin;
    const float mean = mean_[static_cast<std::size_t>(r)];
    if (normaliser == Normaliser::FeatureRatio) {
      const float sum = result_.log_sum_exp(tile.pair, tile.row + r);
      const float factor = sum == 0 ? 0 : 1 / sum;
      for (Index x = 0; x < extent.end - extent.begin; ++x) dp[x] = factor * (dp[x] - mean);
    } else {
      prepared_.kernels.softmax_gradient(dp, p_.data() + r * tile.width + extent.begin,
                                         extent.end - extent.begin, mean);
    }
  }
  if (normaliser == Normaliser::None || normaliser == Normaliser::FeatureRatio) {
    columns_.hide(tile, dp_.data(), tile.width, 0);
  }
  fill_outside(tile, dp_.data(), tile.width, 0);
}

}  // namespace

void backward(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
              const Stop& stop) {
  if (is_linear(prepared.part)) {
    Gradients gradients(prepared, 1);
    backward_linear(prepared, result, d_output, gradients, stop);
    stop.check();
    gradients.deliver();
    return;
  }
  // A group of heads that share keys belongs to one work item, so that their sums do.
  const Index groups = prepared.batch * prepared.kv_heads;
  const Index heads_per_group = prepared.heads / prepared.kv_heads;
  const Index blocks = (prepared.queries + block_rows - 1) / block_rows;
  const Index slices =
      std::clamp<Index>((least_work_items + groups - 1) / std::max<Index>(groups, 1), 1, blocks);
  const Index blocks_per_slice = (blocks + slices - 1) / slices;
  Gradients gradients(prepared, slices);
  parallel_for(groups * slices, 1, [&](Index first, Index last) {
    BackwardRows rows(prepared, result, d_output, gradients);
    for (Index n = first; n < last; ++n) {
      const Index group = n / slices, slice = n % slices;
      const Index begin = slice * blocks_per_slice * block_rows;
      const Index end = std::min(begin + blocks_per_slice * block_rows, prepared.queries);
      for (Index member = 0; member < heads_per_group; ++member) {
        const Index pair = group * heads_per_group + member;
        for (Index row = begin; row < end; row += block_rows) {
          rows.run(pair, row, std::min(row + block_rows, end), slice, stop);
        }
      }
    }
  });
  stop.check();
  gradients.deliver();
}

}  // namespace attnscope::cpu
