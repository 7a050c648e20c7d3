#include "core/attention/cpu/tile_scores.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/attention/span.h"

namespace attnscope::cpu {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

void resize_to(std::vector<float>& numbers, Index count) {
  numbers.resize(static_cast<std::size_t>(count));
}

float span_length(const Prepared& prepared, Index pair, Index query) {
  const Tensor& z = prepared.part.span.value();
  return z.rank() == 1 ? z[pair % prepared.heads] : z(pair, query);
}

float span_weight(float z, double ramp, std::int32_t offset) {
  return static_cast<float>(span_mask(z, ramp, offset));
}

}  // namespace

float span_weight(const Prepared& prepared, Index pair, Index query, Index key) {
  const std::int32_t offset = prepared.pos_q[static_cast<std::size_t>(query)] -
                              prepared.key_positions(pair % prepared.heads)[key];
  return span_weight(span_length(prepared, pair, query), prepared.part.span_ramp, offset);
}

void TileScores::compute(const Tile& tile, float* s, Index s_stride, float hidden_score) {
  offsets_.set(prepared_, tile);
  switch (prepared_.part.source) {
    case Source::Product:
      compute_product(tile, s, s_stride);
      break;
    case Source::Additive:
      compute_additive(tile, s, s_stride);
      break;
    case Source::Logits:
      compute_logits(tile, s, s_stride);
      break;
  }
  for (const Prepared::Table& bias : prepared_.bias) add_table(tile, bias, 1, s, s_stride);
  if (prepared_.clamps_overflow) {
    each_pair(tile, [&](Index r, Index x) {
      float& score = s[r * s_stride + x];
      score = std::clamp(score, -largest, largest);
    });
  }
  if (prepared_.part.score_cap > 0) cap(tile, s, s_stride);
  columns_->hide(tile, s, s_stride, hidden_score);
}

void TileScores::cap(const Tile& tile, float* s, Index s_stride) {
  const float score_cap = prepared_.part.score_cap;
  resize_to(capped_, tile.rows * tile.width);
  each_pair(tile, [&](Index r, Index x) {
    const float tanh_score = std::tanh(s[r * s_stride + x] / score_cap);
    capped_[static_cast<std::size_t>(r * tile.width + x)] = tanh_score;
    s[r * s_stride + x] = score_cap * tanh_score;
  });
}

// Returns the tile's rows of a matrix [L_q, size] times the scale, which saves a separate pass to
// scale the scores.
const float* TileScores::scaled_rows(const Tile& tile, const float* rows, Index size,
                                     std::vector<float>& to) {
  const float scale = prepared_.part.scale;
  if (scale == 1 && tile.queries == nullptr) return rows + tile.row * size;
  resize_to(to, tile.rows * size);
  if (tile.queries != nullptr) {
    prepared_.kernels.gather(rows, tile.queries, tile.rows, size, to.data());
    if (scale != 1) prepared_.kernels.scale(to.data(), tile.rows * size, scale);
    return to.data();
  }
  prepared_.kernels.scale_to(to.data(), rows + tile.row * size, tile.rows * size, scale);
  return to.data();
}

// s (+)= q k^T
void TileScores::add_product(const Tile& tile, const float* q, const Packed& packed, Index head,
                             const float* k, Index size, float* s, Index s_stride, bool add) {
  if (!prepared_.clamps_overflow) {
    products_.scores(tile, q, packed, head, k, size, s, s_stride, add);
    return;
  }
  each_pair(tile, [&](Index r, Index x) {
    double sum = 0;
    for (Index t = 0; t < size; ++t) {
      sum += static_cast<double>(q[r * size + t]) * k[tile.columns[x] * size + t];
    }
    const auto clamped = static_cast<float>(std::clamp<double>(sum, -largest, largest));
    float& score = s[r * s_stride + x];
    score = add ? score + clamped : clamped;
  });
}

void TileScores::compute_product(const Tile& tile, float* s, Index s_stride) {
  const Prepared& p = prepared_;
  const Part& part = p.part;
  if (part.q.defined() && tile.first == 0) {  // the block's other tiles reuse scaled_q_
    scaled_q_ = scaled_rows(tile, p.q(tile.pair, 0), p.key_size, scaled_q_numbers_);
  }
  if (p.has_product) {
    add_product(tile, scaled_q_, p.packed_k, p.key_head(tile.pair), p.k(tile.pair), p.key_size, s,
                s_stride, false);
    if (part.relu) {
      resize_to(product_, tile.rows * tile.width);
      each_pair(tile, [&](Index r, Index x) {  // scale * ReLU(q . k)
        float& score = s[r * s_stride + x];
        product_[static_cast<std::size_t>(r * tile.width + x)] = score;
        score = part.scale > 0 ? std::max(score, 0.0F) : std::min(score, 0.0F);
      });
    }
  } else {
    for (Index r = 0; r < tile.rows; ++r) std::fill_n(s + r * s_stride, tile.width, 0.0F);
  }
  for (const Prepared::Product& e : p.products) {
    const float* q = scaled_rows(tile, e.q.at(tile.pair), e.size, scaled_numbers_);
    add_product(tile, q, e.packed_k, e.k.index(tile.pair), e.k.at(tile.pair), e.size, s, s_stride,
                true);
  }
  for (const Prepared::Rows& rows : p.query_rows) add_query_rows(tile, rows, s, s_stride);
  for (const Prepared::Rows& rows : p.key_rows) add_key_rows(tile, rows, s, s_stride);
  for (const Prepared::Table& t : p.scaled_biases) add_table(tile, t, part.scale, s, s_stride);
  for (const Prepared::Table& table : p.factor) {
    const PairLines<float>& factor = offsets_.numbers(table, tile.pair);
    resize_to(unscaled_, tile.rows * tile.width);
    each_pair(tile, [&](Index r, Index x) {
      float& score = s[r * s_stride + x];
      unscaled_[static_cast<std::size_t>(r * tile.width + x)] = score;
      score *= factor.row(r)[x];
    });
  }
}

void TileScores::compute_additive(const Tile& tile, float* s, Index s_stride) const {
  const Index a = prepared_.additive_size;
  const float* v = prepared_.part.additive_v.value().data() + tile.head * a;
  const float* q = prepared_.additive_q.data() + tile.pair * prepared_.queries * a;
  const float* k = prepared_.additive_k.data() + tile.pair * prepared_.keys * a;
  each_pair(tile, [&](Index r, Index x) {
    const float* from_q = q + tile.query(r) * a;
    const float* from_k = k + tile.columns[x] * a;
    float sum = 0;
    for (Index t = 0; t < a; ++t) sum += v[t] * std::tanh(from_q[t] + from_k[t]);
    s[r * s_stride + x] = sum;
  });
}

void TileScores::compute_logits(const Tile& tile, float* s, Index s_stride) {
  const Index columns = prepared_.part.logits.dim(2);
  const float* logits = prepared_.logits.at(tile.pair);
  if (prepared_.part.logits_index) {
    const PairLines<std::int32_t>& bucket = offsets_.buckets(*prepared_.part.logits_index);
    each_pair(tile, [&](Index r, Index x) {
      s[r * s_stride + x] = logits[tile.query(r) * columns + bucket.row(r)[x]];
    });
  } else {
    each_pair(tile, [&](Index r, Index x) {
      s[r * s_stride + x] = logits[tile.query(r) * columns + tile.columns[x]];
    });
  }
}

void TileScores::add_table(const Tile& tile, const Prepared::Table& table, float factor, float* s,
                           Index s_stride) {
  const PairLines<float>& numbers = offsets_.numbers(table, tile.pair);
  for (Index r = 0; r < tile.rows; ++r) {
    const Extent extent = tile.extent(r);
    prepared_.kernels.add_scaled(s + r * s_stride + extent.begin, numbers.row(r) + extent.begin,
                                 extent.end - extent.begin, factor);
  }
}

void TileScores::add_query_rows(const Tile& tile, const Prepared::Rows& rows, float* s,
                                Index s_stride) {
  const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
  const Index base = offsets_.min_bucket(), n = offsets_.bucket_count();
  resize_to(by_bucket_, tile.rows * n);
  rows.packed.multiply(prepared_.kernels, tile.rows, scaled_q_, rows.size,
                       rows.rows.index(tile.pair), base, n, by_bucket_.data(), n, false);
  each_pair(tile, [&](Index r, Index x) {
    s[r * s_stride + x] += by_bucket_[static_cast<std::size_t>(r * n + bucket.row(r)[x] - base)];
  });
}

void TileScores::add_key_rows(const Tile& tile, const Prepared::Rows& rows, float* s,
                              Index s_stride) {
  const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
  const Index base = offsets_.min_bucket(), n = offsets_.bucket_count();
  resize_to(by_bucket_, tile.width * n);
  const float* keys = products_.selected_rows(tile, prepared_.k(tile.pair), rows.size);
  rows.packed.multiply(prepared_.kernels, tile.width, keys, rows.size, rows.rows.index(tile.pair),
                       base, n, by_bucket_.data(), n, false);
  const float scale = prepared_.part.scale;
  each_pair(tile, [&](Index r, Index x) {
    s[r * s_stride + x] +=
        scale * by_bucket_[static_cast<std::size_t>(x * n + bucket.row(r)[x] - base)];
  });
}

void TileScores::hide_beyond_span(const Tile& tile, float* s, Index s_stride, float hidden_score) {
  for (Index r = 0; r < tile.rows; ++r) {
    const float z = span_length(prepared_, tile.pair, tile.query(r));
    const std::int32_t* offset = offsets_.offsets().row(r);
    const Extent extent = tile.extent(r);
    for (Index x = extent.begin; x < extent.end; ++x) {
      if (span_weight(z, prepared_.part.span_ramp, offset[x]) == 0)
        s[r * s_stride + x] = hidden_score;
    }
  }
}

void TileScores::add_span(const Tile& tile, float* s, Index s_stride) {
  for (Index r = 0; r < tile.rows; ++r) {
    const float z = span_length(prepared_, tile.pair, tile.query(r));
    const std::int32_t* offset = offsets_.offsets().row(r);
    const Extent extent = tile.extent(r);
    for (Index x = extent.begin; x < extent.end; ++x) {
      const float m = span_weight(z, prepared_.part.span_ramp, offset[x]);
      if (m != 1) s[r * s_stride + x] = m == 0 ? -infinity : s[r * s_stride + x] + std::log(m);
    }
  }
}

void TileScores::add_value_rows(const Tile& tile, const float* p, Index p_stride, float* sum) {
  for (const Prepared::Rows& rows : prepared_.value_rows) {
    offsets_.set(prepared_, tile);  // compute() may have set another tile
    const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
    const Index base = offsets_.min_bucket(), n = offsets_.bucket_count();
    by_bucket_.assign(static_cast<std::size_t>(tile.rows * n), 0.0F);
    each_pair(tile, [&](Index r, Index x) {
      by_bucket_[static_cast<std::size_t>(r * n + bucket.row(r)[x] - base)] += p[r * p_stride + x];
    });
    prepared_.kernels.multiply(tile.rows, rows.size, n, by_bucket_.data(), n, 1,
                               rows.rows.at(tile.pair) + base * rows.size, rows.size, sum,
                               rows.size, true);
  }
}

void TileScores::value_rows_backward(const Tile& tile, const float* p, Index p_stride,
                                     const float* d_output, float* dp, Index dp_stride,
                                     Gradients& gradients, Index slice) {
  for (std::size_t i = 0; i < prepared_.value_rows.size(); ++i) {
    const Prepared::Rows& rows = prepared_.value_rows[i];
    const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
    const Index base = offsets_.min_bucket(), n = offsets_.bucket_count();
    by_bucket_.assign(static_cast<std::size_t>(tile.rows * n), 0.0F);
    rows.packed.multiply(prepared_.kernels, tile.rows, d_output, rows.size,
                         rows.rows.index(tile.pair), base, n, by_bucket_.data(), n, false);
    each_pair(tile, [&](Index r, Index x) {
      dp[r * dp_stride + x] +=
          by_bucket_[static_cast<std::size_t>(r * n + bucket.row(r)[x] - base)];
    });
    if (!gradients.value_rows[i].defined()) continue;
    by_bucket_.assign(static_cast<std::size_t>(tile.rows * n), 0.0F);
    each_pair(tile, [&](Index r, Index x) {
      by_bucket_[static_cast<std::size_t>(r * n + bucket.row(r)[x] - base)] += p[r * p_stride + x];
    });
    prepared_.kernels.multiply(
        n, rows.size, tile.rows, by_bucket_.data(), 1, n, d_output, rows.size,
        gradients.value_rows[i].at(slice, tile.pair) + base * rows.size, rows.size, true);
  }
}

void TileScores::backward(const Tile& tile, float* ds, Index ds_stride, Gradients& gradients,
                          Index slice) {
  if (gradients.span.defined()) span_backward(tile, ds, ds_stride, gradients, slice);
  if (prepared_.part.score_cap > 0) {
    each_pair(tile, [&](Index r, Index x) {
      const float tanh_score = capped_[static_cast<std::size_t>(r * tile.width + x)];
      ds[r * ds_stride + x] *= 1 - tanh_score * tanh_score;
    });
  }
  for (std::size_t i = 0; i < prepared_.bias.size(); ++i) {
    if (!gradients.bias[i].defined()) continue;
    table_backward(tile, prepared_.bias[i], ds, ds_stride, 1,
                   gradients.bias[i].at(slice, tile.pair));
  }
  switch (prepared_.part.source) {
    case Source::Product:
      product_backward(tile, ds, ds_stride, gradients, slice);
      break;
    case Source::Additive:
      additive_backward(tile, ds, ds_stride, gradients, slice);
      break;
    case Source::Logits:
      logits_backward(tile, ds, ds_stride, gradients);
      break;
  }
}

void TileScores::product_backward(const Tile& tile, float* ds, Index ds_stride,
                                  Gradients& gradients, Index slice) {
  const Prepared& p = prepared_;
  for (std::size_t i = 0; i < p.factor.size(); ++i) {
    if (gradients.factor[i].defined()) {
      const PairLines<std::int32_t>& bucket = offsets_.buckets(*p.factor[i].index);
      float* d_factor = gradients.factor[i].at(slice, tile.pair);
      each_pair(tile, [&](Index r, Index x) {
        d_factor[bucket.row(r)[x]] +=
            ds[r * ds_stride + x] * unscaled_[static_cast<std::size_t>(r * tile.width + x)];
      });
    }
    const PairLines<float>& factor = offsets_.numbers(p.factor[i], tile.pair);
    each_pair(tile, [&](Index r, Index x) { ds[r * ds_stride + x] *= factor.row(r)[x]; });
  }
  for (std::size_t i = 0; i < p.scaled_biases.size(); ++i) {
    if (!gradients.scaled_biases[i].defined()) continue;
    table_backward(tile, p.scaled_biases[i], ds, ds_stride, p.part.scale,
                   gradients.scaled_biases[i].at(slice, tile.pair));
  }
  for (const Prepared::Rows& rows : p.query_rows) {
    query_rows_backward(tile, rows, ds, ds_stride, gradients, slice);
  }
  for (std::size_t i = 0; i < p.key_rows.size(); ++i) {
    key_rows_backward(tile, p.key_rows[i], ds, ds_stride, gradients, slice, gradients.key_rows[i]);
  }
  for (std::size_t i = 0; i < p.products.size(); ++i) {
    const Prepared::Product& e = p.products[i];
    Gradients::Product& d = gradients.products[i];
    if (d.q.defined()) {
      add_scaled_sum(tile, ds, ds_stride, e.k.at(tile.pair), e.size, d.q.at(0, tile.pair));
    }
    if (d.k.defined()) {
      const float* q = scaled_rows(tile, e.q.at(tile.pair), e.size, scaled_numbers_);
      products_.spread(tile, ds, ds_stride, q, e.size, d.k.at(slice, tile.pair));
    }
  }
  if (!p.has_product) return;
  if (p.part.relu) {
    each_pair(tile, [&](Index r, Index x) {
      const float product = product_[static_cast<std::size_t>(r * tile.width + x)];
      if (!(p.part.scale > 0 ? product > 0 : product < 0)) ds[r * ds_stride + x] = 0;
    });
  }
  if (gradients.q.defined()) {
    add_scaled_sum(tile, ds, ds_stride, p.k(tile.pair), p.key_size, gradients.q.at(0, tile.pair));
  }
  if (gradients.k.defined()) {
    products_.spread(tile, ds, ds_stride, scaled_q_, p.key_size,
                     gradients.k.at(slice, p.key_head(tile.pair)));
  }
}

// sum_(query r) += scale * Σ_x ds_rx rows_(column x).  rows: [L_k, size], sum: [L_q, size]
void TileScores::add_scaled_sum(const Tile& tile, const float* ds, Index ds_stride,
                                const float* rows, Index size, float* sum) {
  scaled_numbers_.assign(static_cast<std::size_t>(tile.rows * size), 0.0F);
  products_.weighted_sum(tile, ds, ds_stride, rows, size, scaled_numbers_.data());
  for (Index r = 0; r < tile.rows; ++r) {
    prepared_.kernels.add_scaled(sum + tile.query(r) * size, scaled_numbers_.data() + r * size,
                                 size, prepared_.part.scale);
  }
}

void TileScores::additive_backward(const Tile& tile, const float* ds, Index ds_stride,
                                   Gradients& gradients, Index slice) {
  const Index a = prepared_.additive_size;
  const float* v = prepared_.part.additive_v.value().data() + tile.head * a;
  const Index q_at = tile.pair * prepared_.queries * a;
  const Index k_at = tile.pair * prepared_.keys * a;
  const float* q = prepared_.additive_q.data() + q_at;
  const float* k = prepared_.additive_k.data() + k_at;
  float* d_q = gradients.projected_q.data() + q_at;
  float* d_k = gradients.projected_k.data() + slice * prepared_.pairs * prepared_.keys * a + k_at;
  float* d_v = gradients.additive_v.defined() ? gradients.additive_v.at(slice, tile.pair) : nullptr;
  each_pair(tile, [&](Index r, Index x) {
    const float d = ds[r * ds_stride + x];
    if (d == 0) return;
    const Index i = tile.query(r) * a, c = tile.columns[x] * a;
    for (Index t = 0; t < a; ++t) {
      const float u = std::tanh(q[i + t] + k[c + t]);
      const float d_argument = d * v[t] * (1 - u * u);
      d_q[i + t] += d_argument;
      d_k[c + t] += d_argument;
      if (d_v != nullptr) d_v[t] += d * u;
    }
  });
}

void TileScores::logits_backward(const Tile& tile, const float* ds, Index ds_stride,
                                 Gradients& gradients) {
  if (!gradients.logits.defined()) return;
  const Index columns = prepared_.part.logits.dim(2);
  float* d_logits = gradients.logits.at(0, tile.pair);
  if (prepared_.part.logits_index) {
    const PairLines<std::int32_t>& bucket = offsets_.buckets(*prepared_.part.logits_index);
    each_pair(tile, [&](Index r, Index x) {
      d_logits[tile.query(r) * columns + bucket.row(r)[x]] += ds[r * ds_stride + x];
    });
  } else {
    each_pair(tile, [&](Index r, Index x) {
      d_logits[tile.query(r) * columns + tile.columns[x]] += ds[r * ds_stride + x];
    });
  }
}

// Scores include log m; d log m / d z = 1 / (R m) on the ramp, else 0.
void TileScores::span_backward(const Tile& tile, const float* ds, Index ds_stride,
                               Gradients& gradients, Index slice) {
  const double ramp = prepared_.part.span_ramp;
  for (Index r = 0; r < tile.rows; ++r) {
    const float z = span_length(prepared_, tile.pair, tile.query(r));
    const std::int32_t* offset = offsets_.offsets().row(r);
    double sum = 0;
    for (Index x = 0; x < tile.width; ++x) {
      const float m = span_weight(z, ramp, offset[x]);
      if (m > 0 && m < 1) sum += ds[r * ds_stride + x] / (ramp * m);
    }
    if (prepared_.part.span.rank() == 1) {
      *gradients.span.at(slice, tile.pair) += static_cast<float>(sum);
    } else {
      gradients.span.at(0, tile.pair)[tile.query(r)] += static_cast<float>(sum);
    }
  }
}

void TileScores::table_backward(const Tile& tile, const Prepared::Table& table, const float* ds,
                                Index ds_stride, float factor, float* d_table) {
  const PairLines<std::int32_t>& bucket = offsets_.buckets(*table.index);
  each_pair(tile,
            [&](Index r, Index x) { d_table[bucket.row(r)[x]] += factor * ds[r * ds_stride + x]; });
}

void TileScores::query_rows_backward(const Tile& tile, const Prepared::Rows& rows, const float* ds,
                                     Index ds_stride, Gradients& gradients, Index slice) {
  GradientSum& d_rows = gradients.query_rows[0];
  if (!gradients.q.defined() && !d_rows.defined()) return;
  const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
  const Index base = offsets_.min_bucket(), n = offsets_.bucket_count();
  by_bucket_.assign(static_cast<std::size_t>(tile.rows * n), 0.0F);
  each_pair(tile, [&](Index r, Index x) {
    by_bucket_[static_cast<std::size_t>(r * n + bucket.row(r)[x] - base)] += ds[r * ds_stride + x];
  });
  const Index size = rows.size;
  if (d_rows.defined()) {
    prepared_.kernels.multiply(n, size, tile.rows, by_bucket_.data(), 1, n, scaled_q_, size,
                               d_rows.at(slice, tile.pair) + base * size, size, true);
  }
  if (gradients.q.defined()) {
    prepared_.kernels.scale(by_bucket_.data(), tile.rows * n, prepared_.part.scale);
    const float* from = rows.rows.at(tile.pair) + base * size;
    float* d_q = gradients.q.at(0, tile.pair);
    for (Index r = 0; r < tile.rows;) {
      const Index count = tile.queries == nullptr ? tile.rows : 1;
      prepared_.kernels.multiply(count, size, n, by_bucket_.data() + r * n, n, 1, from, size,
                                 d_q + tile.query(r) * size, size, true);
      r += count;
    }
  }
}

void TileScores::key_rows_backward(const Tile& tile, const Prepared::Rows& rows, const float* ds,
                                   Index ds_stride, Gradients& gradients, Index slice,
                                   GradientSum& d_rows) {
  if (!gradients.k.defined() && !d_rows.defined()) return;
  const PairLines<std::int32_t>& bucket = offsets_.buckets(*rows.index);
  const Index base = offsets_.min_bucket(), n = offsets_.bucket_count(), size = rows.size;
  by_bucket_.assign(static_cast<std::size_t>(tile.width * n), 0.0F);
  each_pair(tile, [&](Index r, Index x) {
    by_bucket_[static_cast<std::size_t>(x * n + bucket.row(r)[x] - base)] +=
        prepared_.part.scale * ds[r * ds_stride + x];
  });
  if (d_rows.defined()) {
    const float* keys = products_.selected_rows(tile, prepared_.k(tile.pair), size);
    prepared_.kernels.multiply(n, size, tile.width, by_bucket_.data(), 1, n, keys, size,
                               d_rows.at(slice, tile.pair) + base * size, size, true);
  }
  if (gradients.k.defined()) {
    float* d_k = gradients.k.at(slice, prepared_.key_head(tile.pair));
    for (Index x = 0; x < tile.width; ++x) {
      prepared_.kernels.multiply(1, size, n, by_bucket_.data() + x * n, n, 1,
                                 rows.rows.at(tile.pair) + base * size, size,
                                 d_k + tile.columns[x] * size, size, true);
    }
  }
}

}  // namespace attnscope::cpu
