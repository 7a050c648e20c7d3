// Forward pass, by blocks of rows:
//   1. scores of a group of tiles                    TileScores
//   2. exponentials, their sums, the running maximum (online softmax: Milakov and Gimelshein,
//      2018, arXiv:1805.02867)
//   3. weighted sum of the values
// A group is one tile, so that memory does not grow with L_k; or the whole block where
// probabilities are asked for, so that they are final at once.

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/cpu/passes.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/base/parallel.h"

namespace attnscope::cpu {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

class ForwardRows {
 public:
  ForwardRows(const Prepared& prepared, const Wanted& wanted, PartResult& result)
      : prepared_(prepared),
        wanted_(wanted),
        result_(result),
        columns_(prepared),
        scores_(prepared, columns_) {}

  // All rows [row, end) of one pair.
  void run(Index pair, Index row, Index end, const Stop& stop) {
    while (row < end && !stop.requested()) {
      const Index rows = columns_.choose(pair, row, end - row);
      run_block(pair, row, rows, stop);
      row += rows;
    }
  }

 private:
  void run_block(Index pair, Index row, Index rows, const Stop& stop);
  void weigh(Index rows, Index width, Index s_row);
  void normalise(Index rows);
  void report_scores(const Tile& tile, const float* s, Index s_row);
  void report_attention(Index pair, Index row, Index rows, Index s_row);
  void report_sums(Index pair, Index row, Index rows);

  bool is_softmax() const {
    return prepared_.part.normaliser == Normaliser::Softmax ||
           prepared_.part.normaliser == Normaliser::SpanSoftmax;
  }

  const Prepared& prepared_;
  const Wanted& wanted_;
  PartResult& result_;
  BlockColumns columns_;
  TileScores scores_;
  std::vector<float> s_;           // scores, then weights of a group   [rows, group width]
  std::vector<float> output_;      // [rows, d_v]
  std::vector<float> most_, sum_;  // of each row so far; sum_ of the weights
};

void ForwardRows::run_block(Index pair, Index row, Index rows, const Stop& stop) {
  const Part& part = prepared_.part;
  const Index count = columns_.count(), value_size = prepared_.value_size;
  const Index group = wanted_.attention ? std::max<Index>(count, 1) : tile_columns;
  s_.resize(static_cast<std::size_t>(rows * group));
  output_.assign(static_cast<std::size_t>(rows * value_size), 0.0F);
  most_.assign(static_cast<std::size_t>(rows), -infinity);
  sum_.assign(static_cast<std::size_t>(rows), 0.0F);

  const float hidden = is_softmax() ? -infinity : 0;
  for (Index begin = 0; begin < count;) {
    Index end = begin;
    while (end < count && end - begin < group) {
      if (stop.requested()) return;
      const Tile tile = columns_.tile(end);
      float* s = s_.data() + (end - begin);
      scores_.compute(tile, s, group, hidden);
      if (part.normaliser == Normaliser::SpanSoftmax) {
        scores_.hide_beyond_span(tile, s, group, hidden);
      }
      if (wanted_.scores) report_scores(tile, s, group);
      if (part.normaliser == Normaliser::SpanSoftmax) scores_.add_span(tile, s, group);
      end += tile.width;
      if (!wanted_.attention) break;
    }
    weigh(rows, end - begin, group);
    for (Index at = begin; at < end && value_size > 0 && wanted_.output;) {
      const Tile tile = columns_.tile(at);
      const float* p = s_.data() + (at - begin);
      scores_.products().weighted_sum(tile, p, group, prepared_.v(pair), value_size,
                                      output_.data());
      scores_.add_value_rows(tile, p, group, output_.data());
      at += tile.width;
    }
    begin = end;
  }
  normalise(rows);
  if (wanted_.attention) report_attention(pair, row, rows, group);
  if (result_.log_sum_exp.defined()) report_sums(pair, row, rows);
  if (wanted_.output) {
    std::copy(output_.begin(), output_.end(),
              result_.output.data() + (pair * prepared_.queries + row) * value_size);
  }
}

// Scores become weights, relative to the largest score of the row so far.
void ForwardRows::weigh(Index rows, Index width, Index s_row) {
  const RowKernels& kernels = prepared_.kernels;
  if (prepared_.part.normaliser == Normaliser::None) return;
  for (Index r = 0; r < rows; ++r) {
    float* s = s_.data() + r * s_row;
    float& most = most_[static_cast<std::size_t>(r)];
    float& sum = sum_[static_cast<std::size_t>(r)];
    if (prepared_.part.normaliser == Normaliser::FeatureRatio) {
      for (Index x = 0; x < width; ++x) sum += s[x];
      continue;
    }
    const float here = kernels.maximum(s, width);
    if (here > most) {
      if (most != -infinity) {
        const float smaller = std::exp(most - here);
        sum *= smaller;
        kernels.scale(output_.data() + r * prepared_.value_size, prepared_.value_size, smaller);
      }
      most = here;
    }
    if (most == -infinity) {
      std::fill_n(s, width, 0.0F);
    } else {
      sum += kernels.exponentials(s, width, most);
    }
  }
}

void ForwardRows::normalise(Index rows) {
  if (prepared_.part.normaliser == Normaliser::None) return;
  for (Index r = 0; r < rows; ++r) {
    const float sum = sum_[static_cast<std::size_t>(r)];
    const float factor = sum == 0 ? 0 : 1 / sum;
    prepared_.kernels.scale(output_.data() + r * prepared_.value_size, prepared_.value_size,
                            factor);
    if (wanted_.attention) {
      prepared_.kernels.scale(s_.data() + r * std::max<Index>(columns_.count(), 1),
                              columns_.count(), factor);
    }
  }
}

void ForwardRows::report_scores(const Tile& tile, const float* s, Index s_row) {
  for (Index r = 0; r < tile.rows; ++r) {
    float* to =
        result_.scores.data() + (tile.pair * prepared_.queries + tile.row + r) * prepared_.keys;
    for (Index x = 0; x < tile.width; ++x) {
      const float score = s[r * s_row + x];
      to[tile.columns[x]] = score == -infinity ? 0 : score;
    }
  }
}

void ForwardRows::report_attention(Index pair, Index row, Index rows, Index s_row) {
  for (Index r = 0; r < rows; ++r) {
    float* to = result_.attention.data() + (pair * prepared_.queries + row + r) * prepared_.keys;
    std::fill_n(to, prepared_.keys, 0.0F);
    const float* s = s_.data() + r * s_row;
    for (const std::int32_t column : columns_.columns()) to[column] = *s++;
  }
}

void ForwardRows::report_sums(Index pair, Index row, Index rows) {
  float* to = result_.log_sum_exp.data() + pair * prepared_.queries + row;
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    to[r] = !is_softmax() ? sum_[r] : sum_[r] == 0 ? -infinity : most_[r] + std::log(sum_[r]);
  }
}

}  // namespace

PartResult forward(const Prepared& prepared, const Wanted& wanted, const Stop& stop) {
  const Index pairs = prepared.pairs, queries = prepared.queries;
  PartResult result;
  if (wanted.output) result.output = Tensor({pairs, queries, prepared.value_size});
  if (wanted.attention) result.attention = Tensor({pairs, queries, prepared.keys});
  if (wanted.scores) result.scores = Tensor::zeros({pairs, queries, prepared.keys});
  if (wanted.log_sum_exp && prepared.part.normaliser != Normaliser::None) {
    result.log_sum_exp = Tensor({pairs, queries});
  }
  const Index blocks = (queries + block_rows - 1) / block_rows;
  parallel_for(pairs * blocks, 1, [&](Index first, Index last) {
    ForwardRows rows(prepared, wanted, result);
    for (Index n = first; n < last && !stop.requested(); ++n) {
      const Index row = n % blocks * block_rows;
      rows.run(n / blocks, row, std::min(row + block_rows, queries), stop);
    }
  });
  stop.check();
  return result;
}

}  // namespace attnscope::cpu
