// Backward pass, in blocks of rows (Dao et al., 2022, arXiv:2205.14135). Probabilities P are
// recomputed from the scores and the log-sum-exp of the rows. With D_i = d output_i . output_i:
//   d V += P^T d output          d P = d output V^T (+ value rows)
//   d S = P (d P - D)            TileScores propagates d S to the ingredients of the scores.

#include <algorithm>
#include <cmath>

#include "core/attention/cpu/linear.h"
#include "core/attention/cpu/passes.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope::cpu {
namespace {

// Minimum number of work items. If there are fewer groups of heads, rows are divided into slices.
// The minimum is constant, so that results do not depend on the number of threads.
constexpr Index min_work_items = 16;

// Division into work items. An item is a slice of the rows of all heads that share keys.
struct Work {
  Index groups, heads_per_group, slices;
};

Work divide_work(const Prepared& prepared) {
  const Index groups = prepared.batch * prepared.kv_heads;
  const Index blocks = (prepared.queries + block_rows - 1) / block_rows;
  const Index slices =
      std::clamp<Index>((min_work_items + groups - 1) / std::max<Index>(groups, 1), 1, blocks);
  return {groups, prepared.heads / prepared.kv_heads, slices};
}

class BackwardRows {
 public:
  BackwardRows(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
               Gradients& gradients)
      : prepared_(prepared),
        result_(result),
        d_output_(d_output),
        gradients_(gradients),
        in_order_(prepared),
        arranged_(prepared),
        scores_(prepared) {}

  void run(Index pair, Index row, Index end, Index slice) {
    use(in_order_);
    while (row < end && !is_stopping()) {
      const Index rows = in_order_.choose(pair, row, end - row);
      run_block(pair, slice);
      row += rows;
    }
  }

  // Processes a block or a lone row of an arrangement.
  template <class Rows>
  void run(Index pair, const Arrangement::Head& head, const Rows& rows, Index slice) {
    arranged_.set(pair, head, rows);
    use(arranged_);
    run_block(pair, slice);
  }

 private:
  void use(RowColumns& columns) {
    columns_ = &columns;
    scores_.set_columns(columns);
  }
  void run_block(Index pair, Index slice);
  const float* rows_of(const Tile& rows, const Tensor& tensor, std::vector<float>& buffer) const;
  void compute_weights(const Tile& tile);
  void normaliser_backward(const Tile& tile);

  const Prepared& prepared_;
  const PartResult& result_;
  const Tensor& d_output_;
  Gradients& gradients_;
  BlockColumns in_order_;
  ArrangedColumns arranged_;
  RowColumns* columns_ = nullptr;  // current source of columns
  TileScores scores_;
  std::vector<float> p_, dp_;                  // [rows, tile width]
  std::vector<float> mean_;                    // D_i of each row
  std::vector<float> output_, d_output_rows_;  // gathered, for rows that are not consecutive
};

// Returns the tile's rows of a tensor [B h, L_q, d_v], in the tensor or copied to `buffer`.
const float* BackwardRows::rows_of(const Tile& rows, const Tensor& tensor,
                                   std::vector<float>& buffer) const {
  const Index size = prepared_.value_size;
  const float* pair_rows = tensor.data() + rows.pair * prepared_.queries * size;
  if (rows.queries == nullptr) return pair_rows + rows.row * size;
  buffer.resize(static_cast<std::size_t>(rows.rows * size));
  for (Index r = 0; r < rows.rows; ++r) {
    std::copy_n(pair_rows + rows.query(r) * size, size, buffer.data() + r * size);
  }
  return buffer.data();
}

void BackwardRows::run_block(Index pair, Index slice) {
  if (columns_->count() == 0) return;
  const Index size = prepared_.value_size;
  const Tile block = columns_->tile(0);
  const Index rows = block.rows;
  const float* d_output = rows_of(block, d_output_, d_output_rows_);
  const float* output = rows_of(block, result_.output, output_);
  const Index kv = prepared_.key_head(pair);
  p_.resize(static_cast<std::size_t>(rows * tile_columns));
  dp_.resize(static_cast<std::size_t>(rows * tile_columns));
  mean_.resize(static_cast<std::size_t>(rows));
  for (Index r = 0; r < rows; ++r) {
    mean_[static_cast<std::size_t>(r)] =
        prepared_.kernels.dot(d_output + r * size, output + r * size, size);
  }
  for (Index begin = 0; begin < columns_->count() && !is_stopping();) {
    const Tile tile = columns_->tile(begin);
    const bool is_softmax = prepared_.part.normaliser == Normaliser::Softmax ||
                            prepared_.part.normaliser == Normaliser::SpanSoftmax;
    scores_.compute(tile, p_.data(), tile.width,
                    is_softmax ? -std::numeric_limits<float>::infinity() : 0);
    compute_weights(tile);
    if (gradients_.v.defined()) {
      scores_.products().spread(tile, p_.data(), tile.width, d_output, size,
                                gradients_.v.at(slice, kv));
    }
    scores_.products().scores(tile, d_output, prepared_.packed_v, kv, prepared_.v(pair), size,
                              dp_.data(), tile.width, false);
    scores_.value_rows_backward(tile, p_.data(), tile.width, d_output, dp_.data(), tile.width,
                                gradients_, slice);
    normaliser_backward(tile);
    scores_.backward(tile, dp_.data(), tile.width, gradients_, slice);
    begin += tile.width;
  }
}

// Converts scores into probabilities.
void BackwardRows::compute_weights(const Tile& tile) {
  const Normaliser normaliser = prepared_.part.normaliser;
  if (normaliser == Normaliser::SpanSoftmax) scores_.add_span(tile, p_.data(), tile.width);
  for (Index r = 0; r < tile.rows && normaliser != Normaliser::None; ++r) {
    const Extent extent = tile.extent(r);
    float* p = p_.data() + r * tile.width + extent.begin;
    const float sum = result_.log_sum_exp(tile.pair, tile.query(r));
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

// Converts dp_ from the gradient of the probabilities to the gradient of the scores.
void BackwardRows::normaliser_backward(const Tile& tile) {
  const Normaliser normaliser = prepared_.part.normaliser;
  for (Index r = 0; r < tile.rows && normaliser != Normaliser::None; ++r) {
    const Extent extent = tile.extent(r);
    float* dp = dp_.data() + r * tile.width + extent.begin;
    const float mean = mean_[static_cast<std::size_t>(r)];
    if (normaliser == Normaliser::FeatureRatio) {
      const float sum = result_.log_sum_exp(tile.pair, tile.query(r));
      const float factor = sum == 0 ? 0 : 1 / sum;
      for (Index x = 0; x < extent.end - extent.begin; ++x) dp[x] = factor * (dp[x] - mean);
    } else {
      prepared_.kernels.softmax_gradient(dp, p_.data() + r * tile.width + extent.begin,
                                         extent.end - extent.begin, mean);
    }
  }
  if (normaliser == Normaliser::None || normaliser == Normaliser::FeatureRatio) {
    columns_->hide(tile, dp_.data(), tile.width, 0);
  }
  fill_outside(tile, dp_.data(), tile.width, 0);
}

// A sink has the weight exp(sink - log_sum_exp) and the value 0.
void sinks_backward(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
                    GradientSum& d_sinks) {
  const Index size = prepared.value_size;
  for (Index pair = 0; pair < prepared.pairs; ++pair) {
    const float sink = prepared.part.sinks.value()[pair % prepared.heads];
    double sum = 0;
    for (Index row = 0; row < prepared.queries; ++row) {
      const Index offset = (pair * prepared.queries + row) * size;
      const float mean =
          prepared.kernels.dot(d_output.data() + offset, result.output.data() + offset, size);
      sum -=
          std::exp(static_cast<double>(sink) - static_cast<double>(result.log_sum_exp(pair, row))) *
          static_cast<double>(mean);
    }
    *d_sinks.at(0, pair) += static_cast<float>(sum);
  }
}

// Calls f(rows, pair, item, slice) for items [0, count(pair)) of each pair, slice by slice.
template <class Count, class F>
void each_item(const Work& work, const Prepared& prepared, const PartResult& result,
               const Tensor& d_output, Gradients& gradients, Count count, F f) {
  parallel_for(work.groups * work.slices, 1, [&](Index first, Index last) {
    BackwardRows rows(prepared, result, d_output, gradients);
    for (Index n = first; n < last; ++n) {
      const Index group = n / work.slices, slice = n % work.slices;
      for (Index member = 0; member < work.heads_per_group; ++member) {
        const Index pair = group * work.heads_per_group + member;
        const Index items = static_cast<Index>(count(pair));
        const Index per_slice = (items + work.slices - 1) / work.slices;
        const Index end = std::min((slice + 1) * per_slice, items);
        for (Index item = slice * per_slice; item < end && !is_stopping(); ++item) {
          f(rows, pair, item, slice);
        }
      }
    }
  });
}

}  // namespace

void backward(const Prepared& prepared, const PartResult& result, const Tensor& d_output) {
  if (is_linear(prepared.part)) {
    Gradients gradients(prepared, 1);
    backward_linear(prepared, result, d_output, gradients);
    check_stop();
    gradients.deliver();
    return;
  }
  const Arrangement* const arrangement = prepared.arrangement.get();
  const auto head = [&](Index pair) -> const Arrangement::Head& {
    return arrangement->of(pair % prepared.heads);
  };
  const Work work = divide_work(prepared);
  Gradients gradients(prepared, work.slices);
  if (gradients.sinks.defined()) sinks_backward(prepared, result, d_output, gradients.sinks);
  const auto run = [&](auto count, auto f) {
    each_item(work, prepared, result, d_output, gradients, count, f);
  };
  const Index blocks = (prepared.queries + block_rows - 1) / block_rows;
  run([=](Index) { return blocks; },
      [&](BackwardRows& rows, Index pair, Index block, Index slice) {
        if (!head(pair).is_in_order(block)) return;
        const Index row = block * block_rows;
        rows.run(pair, row, std::min(row + block_rows, prepared.queries), slice);
      });
  for (std::size_t layer = 0; layer < arrangement->layers(); ++layer) {
    run([&](Index pair) { return head(pair).layer(layer).size(); },
        [&](BackwardRows& rows, Index pair, Index block, Index slice) {
          const auto& layer_blocks = head(pair).layer(layer);
          rows.run(pair, head(pair), layer_blocks[static_cast<std::size_t>(block)], slice);
        });
  }
  run([&](Index pair) { return head(pair).lone_rows.size(); },
      [&](BackwardRows& rows, Index pair, Index row, Index slice) {
        rows.run(pair, head(pair), head(pair).lone_rows[static_cast<std::size_t>(row)], slice);
      });
  check_stop();
  gradients.deliver();
}

}  // namespace attnscope::cpu
