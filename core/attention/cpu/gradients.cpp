#include "core/attention/cpu/gradients.h"

namespace attnscope::cpu {

GradientSum::GradientSum(const Var& var, Index slices, Index groups, Index heads)
    : var_(var), slices_(slices), groups_(groups), heads_(heads) {
  if (!var.requires_gradient()) return;
  size_ = var.value().size() / var.dim(0);
  sum_ = Tensor::zeros({slices, groups, size_});
}

void GradientSum::deliver() const {
  if (!defined()) return;
  if (slices_ == 1 && groups_ == var_.dim(0)) {
    accumulate(var_, sum_.reshaped(var_.shape()));
    return;
  }
  Tensor total = Tensor::zeros(var_.shape());
  const Index targets = var_.dim(0);  // number of groups, number of heads, or 1
  for (Index n = 0; n < slices_ * groups_; ++n) {
    const Index group = n % groups_;
    const Index target = targets == groups_ ? group : targets == heads_ ? group % heads_ : 0;
    const float* from = sum_.data() + n * size_;
    float* to = total.data() + target * size_;
    for (Index i = 0; i < size_; ++i) to[i] += from[i];
  }
  accumulate(var_, total);
}

Gradients::Gradients(const Prepared& p, Index slice_count) : prepared(p), slices(slice_count) {
  const Part& part = p.part;
  const auto by_pair = [&](const Var& var) { return GradientSum(var, slices, p.pairs, p.heads); };
  // Each query belongs to one slice, so that slices can share an accumulator.
  const auto by_query = [&](const Var& var) { return GradientSum(var, 1, p.pairs, p.heads); };
  const auto by_key = [&](const Var& var) {
    return GradientSum(var, slices, p.batch * p.kv_heads, p.kv_heads);
  };
  if (part.q.defined()) q = by_query(part.q);
  if (part.k.defined()) k = by_key(part.k);
  if (part.v.defined()) v = by_key(part.v);
  for (const ExtraProduct& e : part.products) products.push_back({by_query(e.q), by_pair(e.k)});
  if (part.query_rows) query_rows.push_back(by_pair(part.query_rows->rows));
  for (const RelativeRows& rows : part.key_rows) key_rows.push_back(by_pair(rows.rows));
  if (part.value_rows) value_rows.push_back(by_pair(part.value_rows->rows));
  for (const OffsetTable& t : part.scaled_biases) scaled_biases.push_back(by_pair(t.table));
  if (part.bias) bias.push_back(by_pair(part.bias->table));
  if (part.factor) factor.push_back(by_pair(part.factor->table));
  if (part.source == Source::Logits) logits = by_query(part.logits);
  if (part.sinks.defined()) sinks = by_pair(part.sinks);
  if (part.normaliser == Normaliser::SpanSoftmax) {
    span = part.span.rank() == 1 ? by_pair(part.span) : by_query(part.span);
  }
  if (part.source == Source::Additive) {
    additive_v = by_pair(part.additive_v);
    projected_q = Tensor::zeros(p.additive_q.shape());  // [B h, L_q, a]
    projected_k = Tensor::zeros({slices, p.pairs, p.keys, p.additive_size});
  }
}

void Gradients::deliver() {
  if (prepared.part.source == Source::Additive) deliver_additive();
  for (GradientSum* sum : {&q, &k, &v, &logits, &span, &sinks, &additive_v}) sum->deliver();
  for (const Product& product : products) {
    product.q.deliver();
    product.k.deliver();
  }
  for (auto* sums : {&query_rows, &key_rows, &value_rows, &scaled_biases, &bias, &factor}) {
    for (const GradientSum& sum : *sums) sum.deliver();
  }
}

// Propagates the projections' gradients to q, k and the projections' weights.
void Gradients::deliver_additive() {
  const Part& part = prepared.part;
  const Index a = prepared.additive_size, d = prepared.key_size;
  // For one pair: d x += d projected . weights^T,  d weights += x^T . d projected.
  const auto propagate = [&](Index pair, Index rows, const float* d_projected, const float* x,
                             const Var& weights, GradientSum& d_x, Index group, Tensor& d_weights) {
    const Index base = pair % prepared.heads * d * a;
    if (d_x.defined()) {
      Tensor transposed({a, d});
      for (Index r = 0; r < d; ++r) {
        for (Index t = 0; t < a; ++t) transposed[t * d + r] = weights.value()[base + r * a + t];
      }
      prepared.kernels.multiply(rows, d, a, d_projected, a, 1, transposed.data(), d,
                                d_x.at(0, group), d, true);
    }
    if (weights.requires_gradient()) {
      prepared.kernels.multiply(d, a, rows, x, 1, d, d_projected, a, d_weights.data() + base, a,
                                true);
    }
  };
  Tensor d_wq = Tensor::zeros(part.additive_q.shape());  // [h, d_k, a]
  Tensor d_wk = Tensor::zeros(part.additive_k.shape());  // [h, d_k, a]
  const Index q_size = prepared.queries * a, k_size = prepared.keys * a;
  for (Index pair = 0; pair < prepared.pairs; ++pair) {
    propagate(pair, prepared.queries, projected_q.data() + pair * q_size, prepared.q(pair, 0),
              part.additive_q, q, pair, d_wq);
    for (Index slice = 0; slice < slices; ++slice) {
      propagate(pair, prepared.keys, projected_k.data() + (slice * prepared.pairs + pair) * k_size,
                prepared.k(pair), part.additive_k, k, prepared.key_head(pair), d_wk);
    }
  }
  accumulate(part.additive_q, d_wq);
  accumulate(part.additive_k, d_wk);
}

}  // namespace attnscope::cpu
