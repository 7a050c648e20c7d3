#include "core/attention/tile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/backend.h"
#include "core/attention/cpu/tile_scores.h"
#include "core/attention/pooled_tile.h"
#include "core/base/parallel.h"

namespace attnscope {

namespace {

// The weights of a rectangle of scores, given the rows' log-sum-exp (or sums).
void weigh(const cpu::Prepared& prepared, cpu::TileScores& scores, const cpu::Tile& tile,
           const float* sums, float* s, Index s_row) {
  const Normaliser normaliser = prepared.part.normaliser;
  if (normaliser == Normaliser::SpanSoftmax) scores.add_span(tile, s, s_row);
  for (Index r = 0; r < tile.rows && normaliser != Normaliser::None; ++r) {
    const cpu::Extent extent = tile.extent(r);
    float* line = s + r * s_row + extent.begin;
    const float sum = sums[tile.row + r];
    if (normaliser == Normaliser::FeatureRatio) {
      prepared.kernels.scale(line, extent.end - extent.begin, sum == 0 ? 0 : 1 / sum);
    } else if (std::isinf(sum)) {
      std::fill_n(line, extent.end - extent.begin, 0.0F);
    } else {
      prepared.kernels.exponentials(line, extent.end - extent.begin, sum);
    }
  }
  cpu::fill_outside(tile, s, s_row, 0);
}

// Computes weights of strips of one head's map; a thread has one of its own.
class Strips {
 public:
  Strips(const cpu::Prepared& prepared, const Tensor& log_sum_exp, Index head)
      : prepared_(prepared),
        sums_(log_sum_exp.defined() ? log_sum_exp.data() + head * prepared.queries : nullptr),
        head_(head),
        columns_(prepared),
        scores_(prepared, columns_) {}

  // At most block_rows rows.  s: [rows, width]
  void compute(Index row, Index rows, Index col, Index width, float* s) {
    const Normaliser normaliser = prepared_.part.normaliser;
    const bool is_softmax =
        normaliser == Normaliser::Softmax || normaliser == Normaliser::SpanSoftmax;
    const float hidden = is_softmax ? -std::numeric_limits<float>::infinity() : 0;
    columns_.set(head_, row, rows, col, width);
    for (Index x = 0; x < width;) {
      const cpu::Tile tile = columns_.tile(x);
      scores_.compute(tile, s + x, width, hidden);
      weigh(prepared_, scores_, tile, sums_, s + x, width);
      x += tile.width;
    }
  }

 private:
  const cpu::Prepared& prepared_;
  const float* sums_;
  Index head_;
  cpu::BlockColumns columns_;
  cpu::TileScores scores_;
};

// Scores beyond float32 show in the sums: see Prepared::careful.
void prepare_for(const cpu::Prepared& prepared, const Tensor& log_sum_exp) {
  prepared.careful = std::any_of(log_sum_exp.begin(), log_sum_exp.end(), [](float sum) {
    return std::abs(sum) > 1e30F && !std::isinf(sum);
  });
}

// Adds a row of weights to the row of cells that pools it.
void pool_row(const float* weights, Index width, Index step, Pooling pooling, float* cells) {
  for (Index x = 0; x < width; x += step, ++cells) {
    const float* const end = weights + std::min(x + step, width);
    for (const float* w = weights + x; w < end; ++w) {
      *cells = pooling == Pooling::Max ? std::max(*cells, *w) : *cells + *w;
    }
  }
}

// A part with none of another's score ingredients.
Part without_scores(const Part& part) {
  Part bare;
  bare.batch = part.batch;
  bare.heads = part.heads;
  bare.pos_q = part.pos_q;
  bare.pos_k = part.pos_k;
  bare.pattern = part.pattern;
  bare.normaliser = part.normaliser == Normaliser::SpanSoftmax ? part.normaliser : Normaliser::None;
  bare.span = part.span;
  bare.span_ramp = part.span_ramp;
  bare.span_most = part.span_most;
  return bare;
}

// Adds the scores of `part` to a term.
void add_term(std::map<Term, Tensor>& terms, Term term, const Part& part, const Stop& stop) {
  Wanted wanted;
  wanted.output = false;
  wanted.scores = true;
  Tensor scores = cpu_backend().run(part, wanted, stop).scores;
  const auto [at, is_first] = terms.emplace(term, scores);
  if (is_first) return;
  std::transform(at->second.begin(), at->second.end(), scores.begin(), at->second.begin(),
                 std::plus<>());
}

}  // namespace

Tensor attention_tile(const Part& part, const Tensor& log_sum_exp, Index head, Index row, Index col,
                      Index height, Index width) {
  check(part);
  const cpu::Prepared prepared(part, false);
  prepare_for(prepared, log_sum_exp);
  Tensor result({height, width});
  parallel_for(height, cpu::block_rows, [&](Index first, Index last) {
    Strips strips(prepared, log_sum_exp, head);
    for (Index begin = first; begin < last; begin += cpu::block_rows) {
      strips.compute(row + begin, std::min(cpu::block_rows, last - begin), col, width,
                     result.data() + begin * width);
    }
  });
  return result;
}

Tensor pooled_attention_tile(const Part& part, const Tensor& log_sum_exp, Index head, Index row,
                             Index col, Index height, Index width, Index step, Pooling pooling) {
  check(part);
  const cpu::Prepared prepared(part, false);
  prepare_for(prepared, log_sum_exp);
  const Index rows = (height + step - 1) / step, columns = (width + step - 1) / step;
  Tensor result = Tensor::full(
      {rows, columns}, pooling == Pooling::Max ? -std::numeric_limits<float>::infinity() : 0);
  const Index rows_per_strip = std::max<Index>(1, cpu::block_rows / step);
  parallel_for(rows, rows_per_strip, [&](Index first, Index last) {
    Strips strips(prepared, log_sum_exp, head);
    std::vector<float> strip(static_cast<std::size_t>(cpu::block_rows * width));
    const Index end = std::min(last * step, height);
    for (Index begin = first * step; begin < end;) {
      const Index most = std::min(step * rows_per_strip, cpu::block_rows);
      const Index count = std::min(most, end - begin);
      strips.compute(row + begin, count, col, width, strip.data());
      for (Index r = 0; r < count; ++r) {
        pool_row(strip.data() + r * width, width, step, pooling,
                 result.data() + (begin + r) / step * columns);
      }
      begin += count;
    }
  });
  if (pooling == Pooling::Max) return result;
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      const Index cells = std::min(step, height - r * step) * std::min(step, width - c * step);
      result(r, c) /= static_cast<float>(cells);
    }
  }
  return result;
}

std::map<Term, Tensor> score_terms(const Part& part, const Stop& stop) {
  std::map<Term, Tensor> terms;
  const auto bare = [&] {
    Part result = without_scores(part);
    result.scale = part.scale;
    return result;
  };
  if (part.split.empty()) {
    Part content = bare();
    content.source = part.source;
    content.q = part.q;
    content.k = part.k;
    content.relu = part.relu;
    content.additive_q = part.additive_q;
    content.additive_k = part.additive_k;
    content.additive_v = part.additive_v;
    content.logits = part.logits;
    content.logits_index = part.logits_index;
    add_term(terms, Term::Content, content, stop);
  }
  for (const auto* products : {&part.split, &part.products}) {
    for (const ExtraProduct& product : *products) {
      Part only = bare();
      only.products = {product};
      add_term(terms, product.term, only, stop);
    }
  }
  if (part.query_rows) {
    Part only = bare();
    only.q = part.q;
    only.query_rows = part.query_rows;
    add_term(terms, part.query_rows->term, only, stop);
  }
  for (const RelativeRows& rows : part.key_rows) {
    Part only = bare();
    only.k = part.k;
    only.key_rows = {rows};
    add_term(terms, rows.term, only, stop);
  }
  for (const OffsetTable& table : part.scaled_biases) {
    Part only = bare();
    only.scaled_biases = {table};
    add_term(terms, table.term, only, stop);
  }
  for (const auto* table : {&part.bias, &part.factor}) {
    if (!*table) continue;
    Part only = bare();
    only.bias = *table;
    add_term(terms, table == &part.factor ? Term::Factor : (*table)->term, only, stop);
  }
  return terms;
}

ByteTensor allowed_pairs(const Part& part) {
  const Index heads = part.heads, queries = part.queries(), keys = part.keys();
  const ByteTensor of_pattern = part.pattern->mask(heads);  // [h, L_q, L_k]
  ByteTensor mask({part.batch * heads, queries, keys});     // [B h, L_q, L_k]
  for (Index b = 0; b < part.batch; ++b) {
    std::copy(of_pattern.begin(), of_pattern.end(), mask.data() + b * of_pattern.size());
  }
  if (part.normaliser != Normaliser::SpanSoftmax) return mask;
  const cpu::Prepared prepared(without_scores(part), false);
  for (Index pair = 0; pair < part.batch * heads; ++pair) {
    for (Index i = 0; i < queries; ++i) {
      for (Index c = 0; c < keys; ++c) {
        std::uint8_t& allowed = mask(pair, i, c);
        if (allowed && cpu::span_weight(prepared, pair, i, c) == 0) allowed = 0;
      }
    }
  }
  return mask;
}

}  // namespace attnscope
