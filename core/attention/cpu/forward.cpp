// Forward pass, by blocks of rows:
//   1. scores of a group of tiles                    TileScores
//   2. exponentials, their sums, the running maximum (online softmax: Milakov and Gimelshein,
//      2018, arXiv:1805.02867)
//   3. weighted sum of the values
// A group is normally one tile, so that memory does not grow with L_k. If probabilities are
// requested, a group contains all tiles of the block, so that a later maximum cannot change its
// weights.
//
// Rows that share keys with distant rows are computed in the blocks of an arrangement
// (core/part/arrangement.h), layer by layer. A row may belong to blocks of several layers: its
// running maximum and sums are stored from one layer to the next.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "core/attention/cpu/linear.h"
#include "core/attention/cpu/passes.h"
#include "core/attention/cpu/plain_rows.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope::cpu {
namespace {

// Running maximum and sum of every row between layers. Partial outputs are stored in the result.
struct RowSums {
  Tensor maximum, sum;  // [B h, L_q]
};

class ForwardRows {
 public:
  ForwardRows(const Prepared& prepared, const ResultRequest& wanted, PartResult& result,
              RowSums& sums)
      : prepared_(prepared),
        wanted_(wanted),
        result_(result),
        sums_(sums),
        in_order_(prepared),
        arranged_(prepared),
        scores_(prepared),
        plain_rows_(prepared, wanted, result) {}

  // Computes rows [row, end) of one pair; the result is complete after finish().
  void run(Index pair, Index row, Index end) {
    row = plain_rows_.run(pair, row, end);
    use(in_order_);
    while (row < end && !is_stopping()) {
      const Index rows = in_order_.choose(pair, row, end - row);
      run_block(pair, row, rows);
      row += rows;
    }
  }

  // Adds the keys of a block or a lone row of an arrangement to the sums of its queries.
  template <class Rows>
  void add(Index pair, const Arrangement::Head& head, const Rows& rows) {
    arranged_.set(pair, head, rows);
    use(arranged_);
    add_arranged(pair);
  }
  // Writes the results of a query without keys.
  void report_empty(Index pair, Index query);

  void finish() { plain_rows_.finish(); }

 private:
  void use(RowColumns& columns) {
    columns_ = &columns;
    scores_.set_columns(columns);
  }
  void run_block(Index pair, Index row, Index rows);
  void add_arranged(Index pair);
  void add_columns(Index pair, Index rows);
  void prepare_weights(Index pair, Index row, Index rows);
  void compute_weights(Index rows, Index begin, Index end, float* s);
  void normalise(Index pair, Index rows);
  void report_scores(const Tile& tile, const float* s);
  void report_attention(Index pair, Index row, Index rows);
  void report_sums(Index pair, Index row, Index rows);

  bool is_softmax() const {
    return prepared_.part.normaliser == Normaliser::Softmax ||
           prepared_.part.normaliser == Normaliser::SpanSoftmax;
  }

  // Value of result.log_sum_exp for a row.
  float log_sum(Index pair, float maximum, float sum) const {
    if (!is_softmax()) return sum;
    if (!prepared_.part.sinks.defined()) return sum == 0 ? -infinity : maximum + std::log(sum);
    if (sum == 0) return sink(pair);
    const double total = sum_with_sink(pair, maximum, sum);
    return std::isinf(total) ? sink(pair)
                             : static_cast<float>(static_cast<double>(maximum) + std::log(total));
  }

  float sink(Index pair) const { return prepared_.part.sinks.value()[pair % prepared_.heads]; }
  // Sum of a row's exponentials and the sink's exponential, relative to the largest score.
  double sum_with_sink(Index pair, float maximum, float sum) const {
    if (!prepared_.part.sinks.defined()) return static_cast<double>(sum);
    return static_cast<double>(sum) +
           std::exp(static_cast<double>(sink(pair)) - static_cast<double>(maximum));
  }
  // Factor that normalises weights relative to the largest score.
  float normalising_factor(Index pair, float maximum, float sum) const {
    if (sum == 0) return 0;
    if (!prepared_.part.sinks.defined()) return 1 / sum;
    return static_cast<float>(1 / sum_with_sink(pair, maximum, sum));
  }

  const Prepared& prepared_;
  const ResultRequest& wanted_;
  PartResult& result_;
  RowSums& sums_;
  BlockColumns in_order_;
  ArrangedColumns arranged_;
  RowColumns* columns_ = nullptr;  // current source of columns
  TileScores scores_;
  PlainRows plain_rows_;
  float* s_ = nullptr;            // scores of a group, then its weights  [rows, group width]
  Index s_stride_ = 0;            // distance between the rows of s_
  bool writes_in_place_ = false;  // s_ points into the requested attention
  std::vector<float> s_buffer_;
  std::vector<float> output_;         // [rows, d_v]
  std::vector<float> maximum_, sum_;  // running maximum and sum of each row
};

void ForwardRows::run_block(Index pair, Index row, Index rows) {
  prepare_weights(pair, row, rows);
  output_.assign(static_cast<std::size_t>(rows * prepared_.value_size), 0.0F);
  maximum_.assign(static_cast<std::size_t>(rows), -infinity);
  sum_.assign(static_cast<std::size_t>(rows), 0.0F);
  add_columns(pair, rows);
  if (is_stopping()) return;
  normalise(pair, rows);
  if (wanted_.attention) report_attention(pair, row, rows);
  if (result_.log_sum_exp.defined()) report_sums(pair, row, rows);
  if (wanted_.output) {
    std::copy(output_.begin(), output_.end(),
              result_.output.data() + (pair * prepared_.queries + row) * prepared_.value_size);
  }
}

void ForwardRows::add_arranged(Index pair) {
  const Tile rows = columns_->tile(0);
  const Index size = wanted_.output ? prepared_.value_size : 0;
  const auto row_index = [&](Index r) { return pair * prepared_.queries + rows.query(r); };
  s_stride_ = tile_columns;
  s_buffer_.resize(static_cast<std::size_t>(rows.rows * s_stride_));
  s_ = s_buffer_.data();
  output_.resize(static_cast<std::size_t>(rows.rows * prepared_.value_size));
  maximum_.resize(static_cast<std::size_t>(rows.rows));
  sum_.resize(static_cast<std::size_t>(rows.rows));
  for (Index r = 0; r < rows.rows; ++r) {
    const auto n = static_cast<std::size_t>(r);
    const bool is_first = arranged_.is_first(r);
    maximum_[n] = is_first ? -infinity : sums_.maximum[row_index(r)];
    sum_[n] = is_first ? 0 : sums_.sum[row_index(r)];
    if (is_first) {
      std::fill_n(output_.data() + r * prepared_.value_size, prepared_.value_size, 0.0F);
    } else {
      std::copy_n(result_.output.data() + row_index(r) * size, size, output_.data() + r * size);
    }
  }
  add_columns(pair, rows.rows);
  for (Index r = 0; r < rows.rows; ++r) {
    const auto n = static_cast<std::size_t>(r);
    sums_.maximum[row_index(r)] = maximum_[n];
    sums_.sum[row_index(r)] = sum_[n];
    const bool normalises = arranged_.is_last(r) && prepared_.part.normaliser != Normaliser::None;
    const float factor = normalises ? normalising_factor(pair, maximum_[n], sum_[n]) : 1;
    prepared_.kernels.scale_to(result_.output.data() + row_index(r) * size,
                               output_.data() + r * size, size, factor);
    if (arranged_.is_last(r) && result_.log_sum_exp.defined()) {
      result_.log_sum_exp[row_index(r)] = log_sum(pair, maximum_[n], sum_[n]);
    }
  }
}

void ForwardRows::report_empty(Index pair, Index query) {
  const Index row = pair * prepared_.queries + query, size = prepared_.value_size;
  if (result_.log_sum_exp.defined()) result_.log_sum_exp[row] = log_sum(pair, -infinity, 0);
  if (wanted_.output) std::fill_n(result_.output.data() + row * size, size, 0.0F);
}

// Adds all columns to the sums of the rows.
void ForwardRows::add_columns(Index pair, Index rows) {
  const Index count = columns_->count(), value_size = prepared_.value_size;
  const bool has_span = prepared_.part.normaliser == Normaliser::SpanSoftmax;
  const float hidden_score = is_softmax() ? -infinity : 0;
  for (Index begin = 0; begin < count;) {
    Index end = begin;
    do {
      if (is_stopping()) return;
      const Tile tile = columns_->tile(end);
      float* s = s_ + (end - begin);
      scores_.compute(tile, s, s_stride_, hidden_score);
      if (has_span) scores_.hide_beyond_span(tile, s, s_stride_, hidden_score);
      if (wanted_.scores) report_scores(tile, s);
      if (has_span) scores_.add_span(tile, s, s_stride_);
      end += tile.width;
    } while (wanted_.attention && end < count);
    compute_weights(rows, begin, end, s_);
    for (Index column = begin; column < end && value_size > 0 && wanted_.output;) {
      const Tile tile = columns_->tile(column);
      const float* p = s_ + (column - begin);
      scores_.products().weighted_sum(tile, p, s_stride_, prepared_.v(pair), value_size,
                                      output_.data());
      scores_.add_value_rows(tile, p, s_stride_, output_.data());
      column += tile.width;
    }
    begin = end;
  }
}

// Sets the destination of a group's weights: the requested attention if the columns are consecutive
// keys, otherwise a buffer.
void ForwardRows::prepare_weights(Index pair, Index row, Index rows) {
  writes_in_place_ = wanted_.attention && columns_->first_of_interval() >= 0;
  if (writes_in_place_) {
    s_stride_ = prepared_.keys;
    s_ = result_.attention.data() + (pair * prepared_.queries + row) * s_stride_ +
         columns_->first_of_interval();
  } else {
    s_stride_ = wanted_.attention ? columns_->count() : tile_columns;
    s_buffer_.resize(static_cast<std::size_t>(rows * s_stride_));
    s_ = s_buffer_.data();
  }
}

// Converts scores of columns [begin, end) into weights relative to the row's largest score so far.
void ForwardRows::compute_weights(Index rows, Index begin, Index end, float* group) {
  const RowKernels& kernels = prepared_.kernels;
  if (prepared_.part.normaliser == Normaliser::None) return;
  for (Index r = 0; r < rows; ++r) {
    const Index first = std::clamp(columns_->extent(r).begin, begin, end);
    const Index width = std::clamp(columns_->extent(r).end, first, end) - first;
    float* s = group + r * s_stride_ + (first - begin);
    float& maximum = maximum_[static_cast<std::size_t>(r)];
    float& sum = sum_[static_cast<std::size_t>(r)];
    if (prepared_.part.normaliser == Normaliser::FeatureRatio) {
      for (Index x = 0; x < width; ++x) sum += s[x];
      continue;
    }
    const float group_maximum = kernels.maximum(s, width);
    if (group_maximum == infinity) {  // maximum() also returns infinity if a score is NaN
      if (prepared_.clamps_overflow) sum = std::numeric_limits<float>::quiet_NaN();
      prepared_.clamps_overflow = true;
    }
    if (group_maximum > maximum) {
      if (maximum != -infinity) {
        const float factor = std::exp(maximum - group_maximum);
        sum *= factor;
        kernels.scale(output_.data() + r * prepared_.value_size, prepared_.value_size, factor);
      }
      maximum = group_maximum;
    }
    if (maximum == -infinity) {
      std::fill_n(s, width, 0.0F);
    } else {
      sum += kernels.exponentials(s, width, maximum);
    }
  }
}

void ForwardRows::normalise(Index pair, Index rows) {
  if (prepared_.part.normaliser == Normaliser::None) return;
  for (Index r = 0; r < rows; ++r) {
    const auto n = static_cast<std::size_t>(r);
    const float factor = normalising_factor(pair, maximum_[n], sum_[n]);
    prepared_.kernels.scale(output_.data() + r * prepared_.value_size, prepared_.value_size,
                            factor);
    if (!wanted_.attention) continue;
    const Extent extent = columns_->extent(r);
    prepared_.kernels.scale(s_ + r * s_stride_ + extent.begin, extent.end - extent.begin, factor);
  }
}

void ForwardRows::report_scores(const Tile& tile, const float* s) {
  float* to = result_.scores.data() + (tile.pair * prepared_.queries + tile.row) * prepared_.keys;
  each_pair(tile, [&](Index r, Index x) {
    const float score = s[r * s_stride_ + x];
    to[r * prepared_.keys + tile.columns[x]] = score == -infinity ? 0 : score;
  });
}

// Writes whole rows, or only the zeros around weights that are already in place.
void ForwardRows::report_attention(Index pair, Index row, Index rows) {
  for (Index r = 0; r < rows; ++r) {
    float* to = result_.attention.data() + (pair * prepared_.queries + row + r) * prepared_.keys;
    const Extent extent = columns_->extent(r);
    if (writes_in_place_) {
      const Index first = columns_->first_of_interval();
      std::fill(to, to + first + extent.begin, 0.0F);
      std::fill(to + first + extent.end, to + prepared_.keys, 0.0F);
    } else {
      std::fill_n(to, prepared_.keys, 0.0F);
      for (Index x = extent.begin; x < extent.end; ++x) {
        to[columns_->columns()[x]] = s_[r * s_stride_ + x];
      }
    }
  }
}

void ForwardRows::report_sums(Index pair, Index row, Index rows) {
  float* to = result_.log_sum_exp.data() + pair * prepared_.queries + row;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    to[r] = log_sum(pair, maximum_[r], sum_[r]);
  }
}

// Calls f(rows, item) for items [0, count). Each range of at least `grain` items has one
// ForwardRows, `rows`.
template <class F>
void each_item(Index count, Index grain, const Prepared& prepared, const ResultRequest& wanted,
               PartResult& result, RowSums& sums, F f) {
  std::atomic<Index> done{0};
  parallel_for(count, grain, [&](Index first, Index last) {
    ForwardRows rows(prepared, wanted, result, sums);
    for (Index n = first; n < last && !is_stopping(); ++n) {
      f(rows, n);
      if (wanted.progress == nullptr) continue;
      wanted.progress->set_stage_fraction(static_cast<double>(++done) / static_cast<double>(count));
    }
    rows.finish();
  });
}

// Computes rows outside of in-order blocks, layer by layer. Blocks of one layer run in parallel.
void add_arranged_rows(const Prepared& prepared, const Arrangement& arrangement,
                       const ResultRequest& wanted, PartResult& result) {
  RowSums sums{Tensor({prepared.pairs, prepared.queries}),
               Tensor({prepared.pairs, prepared.queries})};
  const auto head = [&](Index pair) -> const Arrangement::Head& {
    return arrangement.of(pair % prepared.heads);
  };
  // Calls f(rows, pair, i) for all pairs and i in [0, count(pair)), at most `job_size` i per job.
  const auto run_items = [&](Index job_size, auto count, auto f) {
    struct Item {
      Index pair, first, last;
    };
    std::vector<Item> items;
    for (Index pair = 0; pair < prepared.pairs; ++pair) {
      const auto total = static_cast<Index>(count(pair));
      for (Index first = 0; first < total; first += job_size) {
        items.push_back({pair, first, std::min(first + job_size, total)});
      }
    }
    each_item(static_cast<Index>(items.size()), 1, prepared, wanted, result, sums,
              [&](ForwardRows& rows, Index n) {
                const Item& item = items[static_cast<std::size_t>(n)];
                for (Index i = item.first; i < item.last && !is_stopping(); ++i) {
                  f(rows, item.pair, static_cast<std::size_t>(i));
                }
              });
  };
  for (std::size_t layer = 0; layer < arrangement.layers(); ++layer) {
    run_items(
        1, [&](Index pair) { return head(pair).layer(layer).size(); },
        [&](ForwardRows& rows, Index pair, std::size_t i) {
          rows.add(pair, head(pair), head(pair).layer(layer)[i]);
        });
  }
  run_items(
      block_rows, [&](Index pair) { return head(pair).lone_rows.size(); },
      [&](ForwardRows& rows, Index pair, std::size_t i) {
        rows.add(pair, head(pair), head(pair).lone_rows[i]);
      });
  run_items(
      block_rows, [&](Index pair) { return head(pair).empty.size(); },
      [&](ForwardRows& rows, Index pair, std::size_t i) {
        rows.report_empty(pair, head(pair).empty[i]);
      });
}

}  // namespace

PartResult forward(const Prepared& prepared, const ResultRequest& wanted) {
  const Index pairs = prepared.pairs, queries = prepared.queries;
  PartResult result;
  if (wanted.output) result.output = Tensor({pairs, queries, prepared.value_size});
  if (wanted.attention) result.attention = Tensor({pairs, queries, prepared.keys});
  if (wanted.scores) result.scores = Tensor::zeros({pairs, queries, prepared.keys});
  if (wanted.log_sum_exp && prepared.part.normaliser != Normaliser::None) {
    result.log_sum_exp = Tensor({pairs, queries});
  }
  if (!wanted.attention && !wanted.scores && wanted.output && is_linear(prepared.part)) {
    forward_linear(prepared, result);
    check_stop();
    return result;
  }
  // Requested maps are computed in order, without an arrangement.
  std::shared_ptr<const Arrangement> arrangement;
  if (!wanted.attention && !wanted.scores) arrangement = prepared.arrangement;
  const bool clamps_overflow = prepared.clamps_overflow;
  const Index blocks = (queries + block_rows - 1) / block_rows;
  // A generated token has one block per head: heads that share keys pack them once.
  const Index grain = blocks == 1 ? prepared.heads / prepared.kv_heads : 1;
  RowSums no_sums;
  each_item(pairs * blocks, grain, prepared, wanted, result, no_sums,
            [&](ForwardRows& rows, Index n) {
              const Index pair = n / blocks;
              const Index block =
                  blocks - 1 - n % blocks;  // starts with the long rows of causal patterns
              if (arrangement && !arrangement->of(pair % prepared.heads).is_in_order(block)) return;
              const Index row = block * block_rows;
              rows.run(pair, row, std::min(row + block_rows, queries));
            });
  if (arrangement && !arrangement->all_in_order()) {
    add_arranged_rows(prepared, *arrangement, wanted, result);
  }
  check_stop();
  if (prepared.clamps_overflow != clamps_overflow) return forward(prepared, wanted);
  return result;
}

}  // namespace attnscope::cpu
