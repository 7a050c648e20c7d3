#include "core/attention/cpu/linear.h"

#include <algorithm>

#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope::cpu {
namespace {

constexpr Index products_per_step = Index{1} << 24;  // between cancellation checks

// True if the part's scores are q . k and its only other ingredient is v.
bool has_plain_products(const Part& part) {
  return part.source == Source::Product && part.q.defined() && part.k.defined() &&
         part.scale == 1 && !part.relu && part.products.empty() && !part.query_rows &&
         part.key_rows.empty() && part.scaled_biases.empty() && !part.bias && !part.factor &&
         part.score_cap == 0 && !part.value_rows;
}

bool sees_growing_prefixes(const Pattern& pattern) {
  for (Index head = 0; head < pattern.heads(); ++head) {
    std::int32_t previous_end = 0;
    for (Index i = 0; i < pattern.queries(); ++i) {
      const Pattern::Row row = pattern.row(head, i);
      if (row.empty()) {
        if (previous_end > 0) return false;
        continue;
      }
      if (row.end() - row.begin() != 1) return false;
      const Run& run = *row.begin();
      if (run.begin != 0 || run.step != 1 || run.end < previous_end) return false;
      previous_end = run.end;
    }
  }
  return true;
}

// Processes one query head at a time; one instance per thread.
class LinearRows {
 public:
  explicit LinearRows(const Prepared& prepared)
      : p_(prepared),
        f_(prepared.key_size),
        m_(prepared.value_size + 1),
        is_ratio_(prepared.part.normaliser == Normaliser::FeatureRatio) {}

  void forward(Index pair, PartResult& result);
  void backward(Index pair, const PartResult& result, const Tensor& d_output, Gradients& gradients);

 private:
  // End of the keys [0, end) visible to query i of the pair.
  Index end(Index pair, Index i) const {
    const Pattern::Row row = p_.part.pattern->row(pair % p_.heads, i);
    return row.empty() ? 0 : row.begin()->end;
  }
  struct Block {
    Index row, rows;
    Index common, last;  // keys [0, common) are visible to all rows, [common, last) to some
  };
  Block block(Index pair, Index number) const {
    const Index row = number * block_rows, rows = std::min(block_rows, p_.queries - row);
    return {row, rows, end(pair, row), end(pair, row + rows - 1)};
  }
  Index blocks() const { return (p_.queries + block_rows - 1) / block_rows; }

  // 1 / l_i of a ratio, 1 of plain sums.
  float factor(float sum) const {
    if (!is_ratio_) return 1;
    return sum == 0 ? 0 : 1 / sum;
  }

  void extend_values(Index pair);
  void add_keys(Index pair, Index first, Index last);
  void transpose_state();
  void query_gradients(Index pair, const Block& b, float* d_q);
  void key_gradients(Index pair, Index first, Index last, float* d_k, float* d_v);
  // s = a . R^T, where R is rows [b.common, b.last) of `rows`; 0 for keys hidden from the query.
  void products(Index pair, const Block& b, const float* a, Index size, const float* rows,
                std::vector<float>& s);

  const Prepared& p_;
  const Index f_, m_;          // number of features, size of v~
  const bool is_ratio_;        // false: output_i = q_i S without the division by l_i
  std::vector<float> values_;  // v~  [L_k, m]
  std::vector<float> state_;   // [f, m]
  std::vector<float> w_;       // weights of pairs    [rows, last - common]
  std::vector<float> dw_;      // gradients of w_     [rows, last - common]
  std::vector<float> rows_;    // q_i S of a block    [rows, m]
  std::vector<float> g_;       // g_i of each query  [L_q, m]
  std::vector<float> panels_;
  std::vector<float> transposed_;  // the state, transposed  [m, f]
};

void resize_numbers(std::vector<float>& numbers, Index count) {
  numbers.resize(static_cast<std::size_t>(count));
}

void LinearRows::extend_values(Index pair) {
  const float* v = p_.v(pair);
  resize_numbers(values_, p_.keys * m_);
  for (Index c = 0; c < p_.keys; ++c) {
    std::copy_n(v + c * (m_ - 1), m_ - 1, values_.data() + c * m_);
    values_[static_cast<std::size_t>(c * m_ + m_ - 1)] = 1;
  }
}

// state += sum of k_c v~_c^T.
void LinearRows::add_keys(Index pair, Index first, Index last) {
  const Index step = std::max<Index>(block_rows, products_per_step / (f_ * m_));
  while (first < last && !is_stopping()) {
    const Index count = std::min(step, last - first);
    p_.kernels.multiply(f_, m_, count, p_.k(pair) + first * f_, 1, f_, values_.data() + first * m_,
                        m_, state_.data(), m_, true);
    first += count;
  }
}

void LinearRows::products(Index pair, const Block& b, const float* a, Index size, const float* rows,
                          std::vector<float>& s) {
  const Index n = b.last - b.common;
  std::vector<std::int32_t> columns(static_cast<std::size_t>(n));
  for (Index x = 0; x < n; ++x) {
    columns[static_cast<std::size_t>(x)] = static_cast<std::int32_t>(b.common + x);
  }
  resize_numbers(s, b.rows * n);
  resize_numbers(panels_, (n + panel_width - 1) / panel_width * panel_width * size);
  pack_rows(p_.kernels, rows, size, columns.data(), n, panels_.data());
  multiply_panels(p_.kernels, b.rows, a, size, panels_.data(), size, 0, n, s.data(), n, false);
  for (Index r = 0; r < b.rows; ++r) {
    std::fill(s.data() + r * n + (end(pair, b.row + r) - b.common), s.data() + (r + 1) * n, 0.0F);
  }
}

void LinearRows::forward(Index pair, PartResult& result) {
  extend_values(pair);
  state_.assign(static_cast<std::size_t>(f_ * m_), 0.0F);
  Index added = 0;  // keys [0, added) are in the state
  for (Index number = 0; number < blocks() && !is_stopping(); ++number) {
    const Block b = block(pair, number);
    add_keys(pair, added, b.common);
    added = b.common;
    resize_numbers(rows_, b.rows * m_);
    const float* q = p_.q(pair, b.row);
    p_.kernels.multiply(b.rows, m_, f_, q, f_, 1, state_.data(), m_, rows_.data(), m_, false);
    if (b.last > b.common) {
      const Index n = b.last - b.common;
      products(pair, b, q, f_, p_.k(pair), w_);
      p_.kernels.multiply(b.rows, m_, n, w_.data(), n, 1, values_.data() + b.common * m_, m_,
                          rows_.data(), m_, true);
    }
    for (Index r = 0; r < b.rows; ++r) {
      const Index row = pair * p_.queries + b.row + r;
      const float* from = rows_.data() + r * m_;
      const float sum = from[m_ - 1], row_factor = factor(sum);
      float* to = result.output.data() + row * (m_ - 1);
      std::transform(from, from + m_ - 1, to, [row_factor](float x) { return x * row_factor; });
      if (result.log_sum_exp.defined()) result.log_sum_exp[row] = sum;
    }
  }
}

// Visits queries in ascending order, with a state of all earlier keys. Then visits keys in
// descending order, with a state of all later queries.
void LinearRows::backward(Index pair, const PartResult& result, const Tensor& d_output,
                          Gradients& gradients) {
  const Index size = m_ - 1;
  extend_values(pair);
  resize_numbers(g_, p_.queries * m_);
  for (Index i = 0; i < p_.queries; ++i) {
    const Index row = pair * p_.queries + i;
    const float row_factor = is_ratio_ ? factor(result.log_sum_exp[row]) : 1;
    const float* d = d_output.data() + row * size;
    float* g = g_.data() + i * m_;
    std::transform(d, d + size, g, [row_factor](float x) { return x * row_factor; });
    g[size] =
        is_ratio_ ? -row_factor * p_.kernels.dot(d, result.output.data() + row * size, size) : 0.0F;
  }
  const Index kv = p_.key_head(pair);
  state_.assign(static_cast<std::size_t>(f_ * m_), 0.0F);
  Index added = 0;  // keys [0, added) are in the state
  for (Index number = 0; number < blocks() && gradients.q.defined() && !is_stopping(); ++number) {
    const Block b = block(pair, number);
    add_keys(pair, added, b.common);
    added = b.common;
    query_gradients(pair, b, gradients.q.at(0, pair) + b.row * f_);
  }
  if (!gradients.k.defined() && !gradients.v.defined()) return;
  float* d_k = gradients.k.defined() ? gradients.k.at(0, kv) : nullptr;
  float* d_v = gradients.v.defined() ? gradients.v.at(0, kv) : nullptr;
  state_.assign(static_cast<std::size_t>(f_ * m_), 0.0F);
  Index end_key = end(pair, p_.queries - 1);  // the gradients of keys from end_key on are complete
  for (Index number = blocks() - 1; number >= 0 && !is_stopping(); --number) {
    const Block b = block(pair, number);
    key_gradients(pair, b.common, end_key, d_k, d_v);
    end_key = b.common;
    if (b.last > b.common) {
      const Index n = b.last - b.common;
      const float* g = g_.data() + b.row * m_;
      const float* q = p_.q(pair, b.row);
      if (d_k != nullptr) {
        products(pair, b, g, m_, values_.data(), dw_);
        p_.kernels.multiply(n, f_, b.rows, dw_.data(), 1, n, q, f_, d_k + b.common * f_, f_, true);
      }
      if (d_v != nullptr) {
        products(pair, b, q, f_, p_.k(pair), w_);
        p_.kernels.multiply(n, size, b.rows, w_.data(), 1, n, g, m_, d_v + b.common * size, size,
                            true);
      }
    }
    p_.kernels.multiply(f_, m_, b.rows, p_.q(pair, b.row), 1, f_, g_.data() + b.row * m_, m_,
                        state_.data(), m_, true);
  }
  key_gradients(pair, 0, end_key, d_k, d_v);
}

void LinearRows::transpose_state() {
  resize_numbers(transposed_, m_ * f_);
  for (Index t = 0; t < f_; ++t) {
    for (Index u = 0; u < m_; ++u) {
      transposed_[static_cast<std::size_t>(u * f_ + t)] =
          state_[static_cast<std::size_t>(t * m_ + u)];
    }
  }
}

void LinearRows::query_gradients(Index pair, const Block& b, float* d_q) {
  const float* g = g_.data() + b.row * m_;
  transpose_state();
  p_.kernels.multiply(b.rows, f_, m_, g, m_, 1, transposed_.data(), f_, d_q, f_, true);
  if (b.last == b.common) return;
  const Index n = b.last - b.common;
  products(pair, b, g, m_, values_.data(), dw_);
  p_.kernels.multiply(b.rows, f_, n, dw_.data(), n, 1, p_.k(pair) + b.common * f_, f_, d_q, f_,
                      true);
}

// Adds the gradients of keys [first, last). All queries in the state see all of these keys.
void LinearRows::key_gradients(Index pair, Index first, Index last, float* d_k, float* d_v) {
  const Index n = last - first, size = m_ - 1;
  if (n <= 0) return;
  if (d_k != nullptr) {
    transpose_state();
    p_.kernels.multiply(n, f_, m_, values_.data() + first * m_, m_, 1, transposed_.data(), f_,
                        d_k + first * f_, f_, true);
  }
  if (d_v != nullptr) {
    p_.kernels.multiply(n, size, f_, p_.k(pair) + first * f_, f_, 1, state_.data(), m_,
                        d_v + first * size, size, true);
  }
}

}  // namespace

bool is_linear(const Part& part) {
  const bool has_sums = part.normaliser == Normaliser::FeatureRatio ||
                        (part.normaliser == Normaliser::None && has_plain_products(part));
  return has_sums && part.v.defined() && sees_growing_prefixes(*part.pattern);
}

void forward_linear(const Prepared& prepared, PartResult& result) {
  parallel_for(prepared.pairs, 1, [&](Index first, Index last) {
    LinearRows rows(prepared);
    for (Index pair = first; pair < last; ++pair) rows.forward(pair, result);
  });
}

void backward_linear(const Prepared& prepared, const PartResult& result, const Tensor& d_output,
                     Gradients& gradients) {
  const Index heads_per_group = prepared.heads / prepared.kv_heads;
  parallel_for(prepared.batch * prepared.kv_heads, 1, [&](Index first, Index last) {
    LinearRows rows(prepared);
    for (Index pair = first * heads_per_group; pair < last * heads_per_group; ++pair) {
      rows.backward(pair, result, d_output, gradients);
    }
  });
}

}  // namespace attnscope::cpu
