#include "core/attention/cpu/prepared.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/parallel.h"

namespace attnscope::cpu {
namespace {

std::vector<std::int32_t> fill_positions(const std::vector<std::int32_t>& positions, Index count) {
  if (!positions.empty()) return positions;
  std::vector<std::int32_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

bool is_consecutive(const std::vector<std::int32_t>& positions, Index period) {
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (static_cast<Index>(i) % period != 0 && positions[i] != positions[i - 1] + 1) return false;
  }
  return true;
}

Prepared::Rows prepare(const RowKernels& kernels, const RelativeRows& rows, Index heads) {
  const Index count = rows.rows.dim(1), size = rows.rows.dim(2);
  return {PerHead(rows.rows, heads), count, size,
          Packed(kernels, rows.rows.value().data(), rows.rows.dim(0), count, size),
          rows.index.get()};
}

Prepared::Table prepare(const OffsetTable& table, Index heads) {
  return {PerHead(table.table, heads), table.table.dim(1), table.index.get()};
}

// Largest Euclidean norm of the first `count` rows of each head [heads, .., size]; NaN counts as
// infinity.
std::vector<float> largest_norms(const RowKernels& kernels, const Tensor& rows, Index count) {
  const Index heads = rows.dim(0), stride = rows.dim(1), size = rows.dim(2);
  std::vector<float> squares(static_cast<std::size_t>(heads * count));
  parallel_for(heads * count, 1024, [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      const float* row = rows.data() + (n / count * stride + n % count) * size;
      squares[static_cast<std::size_t>(n)] = kernels.dot(row, row, size);
    }
  });
  std::vector<float> norms;
  for (Index head = 0; head < heads; ++head) {
    norms.push_back(std::sqrt(kernels.maximum(squares.data() + head * count, count)));
  }
  return norms;
}

// True if every block of rows touches few keys, judged by the first and last row of the block.
bool touches_few_keys(const Pattern& pattern) {
  constexpr Index max_keys = 512;
  for (Index head = 0; head < pattern.heads(); ++head) {
    for (Index row = 0; row < pattern.queries(); row += block_rows) {
      const Index last_row = std::min(row + block_rows, pattern.queries()) - 1;
      const Pattern::Row first = pattern.row(head, row), last = pattern.row(head, last_row);
      if (first.empty() || last.empty()) continue;
      if ((last.end() - 1)->end - first.begin()->begin > max_keys) return false;
    }
  }
  return true;
}

}  // namespace

Prepared::Prepared(const Part& source, Purpose purpose)
    : part(source),
      kernels(row_kernels()),
      batch(source.batch),
      heads(source.heads),
      kv_heads(source.kv_heads()),
      pairs(source.batch * source.heads),
      queries(source.queries()),
      keys(source.keys()),
      has_product(part.source == Source::Product && part.q.defined() && part.k.defined()),
      pos_q(fill_positions(source.pos_q, source.queries())),
      pos_k(fill_positions(source.pos_k, source.keys())),
      key_positions_per_head(static_cast<Index>(pos_k.size()) != keys),
      has_unit_steps(is_consecutive(pos_q, queries) && is_consecutive(pos_k, keys)) {
  const Part& p = part;
  if (p.q.defined()) key_size = p.q.dim(2);
  if (p.k.defined()) key_size = p.k.dim(2);
  if (p.v.defined()) value_size = p.v.dim(2);
  const bool is_pass = purpose == Purpose::Pass || purpose == Purpose::Maps;
  if (purpose == Purpose::Pass || purpose == Purpose::Gradients) {
    arrangement = p.pattern->arrangement();
  }
  const bool has_intervals = arrangement == nullptr || arrangement->has_intervals();
  if (p.v.defined() && purpose == Purpose::Gradients && has_intervals) {
    packed_v = Packed(kernels, p.v.value().data(), p.v.dim(0), keys, value_size, p.v.dim(1));
  }
  for (const ExtraProduct& e : p.products) {
    products.push_back({PerHead(e.q, heads), PerHead(e.k, heads), e.q.dim(2),
                        Packed(kernels, e.k.value().data(), e.k.dim(0), keys, e.k.dim(2))});
  }
  if (p.query_rows) query_rows.push_back(prepare(kernels, *p.query_rows, heads));
  for (const RelativeRows& rows : p.key_rows) key_rows.push_back(prepare(kernels, rows, heads));
  if (p.value_rows) value_rows.push_back(prepare(kernels, *p.value_rows, heads));
  for (const OffsetTable& table : p.scaled_biases) scaled_biases.push_back(prepare(table, heads));
  if (p.bias) bias.push_back(prepare(*p.bias, heads));
  if (p.factor) factor.push_back(prepare(*p.factor, heads));
  const bool packs_by_block = is_pass && is_plain_softmax() && touches_few_keys(*p.pattern);
  if (has_product && !packs_by_block && has_intervals) {
    packed_k = Packed(kernels, p.k.value().data(), p.k.dim(0), keys, key_size, p.k.dim(1));
    if (is_plain_softmax()) key_norms = largest_norms(kernels, p.k.value(), keys);
  }
  if (p.source == Source::Logits) logits = PerHead(p.logits, heads);
  if (p.source == Source::Additive) {
    additive_size = p.additive_v.dim(1);
    additive_q = Tensor({pairs, queries, additive_size});
    additive_k = Tensor({pairs, keys, additive_size});
    parallel_for(pairs, 1, [&](Index first, Index last) {
      for (Index pair = first; pair < last; ++pair) {
        const Index weights = pair % heads * key_size * additive_size;
        kernels.multiply(queries, additive_size, key_size, q(pair, 0), key_size, 1,
                         p.additive_q.value().data() + weights, additive_size,
                         additive_q.data() + pair * queries * additive_size, additive_size, false);
        kernels.multiply(keys, additive_size, key_size, k(pair), key_size, 1,
                         p.additive_k.value().data() + weights, additive_size,
                         additive_k.data() + pair * keys * additive_size, additive_size, false);
      }
    });
  }
}

}  // namespace attnscope::cpu
