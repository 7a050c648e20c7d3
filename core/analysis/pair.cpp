#include "core/analysis/pair.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

double dot(const float* a, const float* b, Index n) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Row of query head `head` in t [h or h_kv or 1, L, d]; query heads may share a head of t.
const float* row_of(const Tensor& t, Index head, Index heads, Index row) {
  const Index array_head = t.dim(0) >= heads ? head : head / (heads / t.dim(0));
  return t.data() + (array_head * t.dim(1) + row) * t.dim(2);
}

double product_of(const Var& q, const Var& k, Index heads, Index head, Index query, Index key) {
  return dot(row_of(q.value(), head, heads, query), row_of(k.value(), head, heads, key), q.dim(2));
}

Index position(const std::vector<std::int32_t>& positions, Index head, Index count, Index row) {
  if (positions.empty()) return row;
  const bool by_head = static_cast<Index>(positions.size()) > count;
  return positions[static_cast<std::size_t>((by_head ? head * count : 0) + row)];
}

double entry(const OffsetTable& t, Index head, Index offset) {
  const Tensor& table = t.table.value();  // [h or 1, n]
  return static_cast<double>(table(table.dim(0) == 1 ? 0 : head, (*t.index)(offset)));
}

}  // namespace

std::optional<PairScore> pair_score(const Part& part, Index head, Index query, Index key) {
  if (part.source != Source::Product || !part.q.defined() || !part.k.defined()) return {};
  const Index h = part.heads;
  const Index offset = position(part.pos_q, head, part.queries(), query) -
                       position(part.pos_k, head, part.keys(), key);
  const auto scale = static_cast<double>(part.scale);
  PairScore pair;
  pair.product = product_of(part.q, part.k, h, head, query, key);
  if (part.relu) pair.product = std::max(pair.product, 0.0);

  double inner = pair.product;
  const auto add = [&](Term term, double value) {
    pair.terms[term] += scale * value;
    inner += value;
  };
  for (const ExtraProduct& p : part.products)
    add(p.term, product_of(p.q, p.k, h, head, query, key));
  if (const auto& rows = part.query_rows) {
    add(rows->term,
        dot(row_of(part.q.value(), head, h, query),
            row_of(rows->rows.value(), head, h, (*rows->index)(offset)), part.q.dim(2)));
  }
  for (const RelativeRows& rows : part.key_rows) {
    add(rows.term, dot(row_of(part.k.value(), head, h, key),
                       row_of(rows.rows.value(), head, h, (*rows.index)(offset)), part.k.dim(2)));
  }
  for (const OffsetTable& table : part.scaled_biases) add(table.term, entry(table, head, offset));
  if (part.split.empty()) {
    pair.terms[Term::Content] += scale * pair.product;
  } else {  // an encoding of the input: `split` divides the product into terms
    for (const ExtraProduct& p : part.split) {
      pair.terms[p.term] += scale * product_of(p.q, p.k, h, head, query, key);
    }
  }
  pair.score = scale * inner;
  if (part.factor) {
    const double factor = entry(*part.factor, head, offset);
    pair.terms[Term::Factor] = factor;
    pair.score *= factor;
  }
  if (part.bias) {
    const double bias = entry(*part.bias, head, offset);
    pair.terms[Term::Bias] = bias;
    pair.score += bias;
  }
  pair.uncapped = pair.score;
  if (part.score_cap > 0) {
    const auto cap = static_cast<double>(part.score_cap);
    pair.score = cap * std::tanh(pair.score / cap);
  }
  return pair;
}

}  // namespace attnscope
