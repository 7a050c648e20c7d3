#include "tests/core/attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/support/compare.h"

namespace attnscope::testing {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Index head_index(const Var& var, Index pair, Index heads) {
  return var.dim(0) == 1 ? 0 : var.dim(0) == heads ? pair % heads : pair;
}

double dot(const Tensor& a, Index a_head, Index i, const Tensor& b, Index b_head, Index j) {
  double sum = 0;
  for (Index t = 0; t < a.dim(2); ++t) {
    sum += static_cast<double>(a(a_head, i, t)) * static_cast<double>(b(b_head, j, t));
  }
  return sum;
}

double table_entry(const OffsetTable& table, Index pair, Index heads, Index offset) {
  return table.table.value()(head_index(table.table, pair, heads), (*table.index)(offset));
}

double additive_score(const Part& part, Index pair, Index i, Index kv, Index c) {
  const Index head = pair % part.heads;
  double score = 0;
  for (Index a = 0; a < part.additive_v.dim(1); ++a) {
    double argument = 0;
    for (Index t = 0; t < part.q.dim(2); ++t) {
      argument +=
          static_cast<double>(part.q.value()(pair, i, t)) * part.additive_q.value()(head, t, a);
      argument +=
          static_cast<double>(part.k.value()(kv, c, t)) * part.additive_k.value()(head, t, a);
    }
    score += part.additive_v.value()(head, a) * std::tanh(argument);
  }
  return score;
}

double score(const Part& part, Index pair, Index i, Index kv, Index c, Index offset) {
  const Index heads = part.heads;
  double s = 0;
  if (part.source == Source::Additive) {
    s = additive_score(part, pair, i, kv, c);
  } else if (part.source == Source::Logits) {
    s = part.logits.value()(head_index(part.logits, pair, heads), i,
                            part.logits_index ? (*part.logits_index)(offset) : c);
  } else {
    s = dot(part.q.value(), pair, i, part.k.value(), kv, c);
    if (part.relu) s = std::max(s, 0.0);
    for (const ExtraProduct& e : part.products) {
      s += dot(e.q.value(), head_index(e.q, pair, heads), i, e.k.value(),
               head_index(e.k, pair, heads), c);
    }
    if (part.query_rows) {
      const RelativeRows& rows = *part.query_rows;
      s += dot(part.q.value(), pair, i, rows.rows.value(), head_index(rows.rows, pair, heads),
               (*rows.index)(offset));
    }
    for (const RelativeRows& rows : part.key_rows) {
      s += dot(part.k.value(), kv, c, rows.rows.value(), head_index(rows.rows, pair, heads),
               (*rows.index)(offset));
    }
    for (const OffsetTable& table : part.scaled_biases)
      s += table_entry(table, pair, heads, offset);
    s *= part.scale;
    if (part.factor) s *= table_entry(*part.factor, pair, heads, offset);
  }
  if (part.bias) s += table_entry(*part.bias, pair, heads, offset);
  const double cap = part.score_cap;
  return cap > 0 ? cap * std::tanh(s / cap) : s;
}

double span_weight(const Part& part, Index pair, Index i, Index offset) {
  const Tensor& z = part.span.value();
  const double reach = z.rank() == 1 ? z[pair % part.heads] : z(pair, i);
  return std::clamp((part.span_ramp + reach - static_cast<double>(offset)) / part.span_ramp, 0.0,
                    1.0);
}

}  // namespace

Reference reference(const Part& part) {
  const Index pairs = part.batch * part.heads, queries = part.queries(), keys = part.keys();
  const Index size = part.v.dim(2), kv_heads = part.kv_heads();
  Reference result;
  result.output.resize(static_cast<std::size_t>(pairs * queries * size));
  result.attention.resize(static_cast<std::size_t>(pairs * queries * keys));
  result.scores.resize(result.attention.size());
  for (Index pair = 0; pair < pairs; ++pair) {
    const Index head = pair % part.heads;
    const Index kv = pair / part.heads * kv_heads + head / (part.heads / kv_heads);
    for (Index i = 0; i < queries; ++i) {
      const Index row = pair * queries + i;
      double* weights = result.attention.data() + row * keys;
      double* scores = result.scores.data() + row * keys;
      double maximum = -infinity;
      std::vector<double> span(static_cast<std::size_t>(keys), 0.0);
      std::vector<Index> offsets(static_cast<std::size_t>(keys));
      for (Index c = 0; c < keys; ++c) {
        const auto index = static_cast<std::size_t>(c);
        const Index j = part.pos_k.empty() ? c
                        : static_cast<Index>(part.pos_k.size()) == keys
                            ? part.pos_k[index]
                            : part.pos_k[static_cast<std::size_t>(head * keys + c)];
        offsets[index] = (part.pos_q.empty() ? i : part.pos_q[static_cast<std::size_t>(i)]) - j;
        if (!part.pattern->allowed(head, i, c)) continue;
        span[index] = part.normaliser == Normaliser::SpanSoftmax
                          ? span_weight(part, pair, i, offsets[index])
                          : 1;
        if (span[index] == 0) continue;
        scores[c] = score(part, pair, i, kv, c, offsets[index]);
        maximum = std::max(maximum, scores[c]);
      }
      const bool is_softmax =
          part.normaliser == Normaliser::Softmax || part.normaliser == Normaliser::SpanSoftmax;
      double sum = 0;
      for (Index c = 0; c < keys; ++c) {
        const double m = span[static_cast<std::size_t>(c)];
        weights[c] = m == 0 ? 0 : is_softmax ? m * std::exp(scores[c] - maximum) : scores[c];
        sum += weights[c];
      }
      if (part.sinks.defined()) {
        const double sink = part.sinks.value()[head];
        if (sum == 0) maximum = sink;
        sum += std::exp(sink - maximum);
      }
      result.log_sum_exp.push_back(!is_softmax ? sum
                                   : sum == 0  ? -infinity
                                               : maximum + std::log(sum));
      double* output = result.output.data() + row * size;
      for (Index c = 0; c < keys; ++c) {
        if (part.normaliser != Normaliser::None && sum != 0) weights[c] /= sum;
        for (Index t = 0; t < size; ++t) {
          output[t] += weights[c] * part.v.value()(kv, c, t);
          if (part.value_rows && weights[c] != 0) {
            const Var& rows = part.value_rows->rows;
            output[t] +=
                weights[c] *
                rows.value()(head_index(rows, pair, part.heads),
                             (*part.value_rows->index)(offsets[static_cast<std::size_t>(c)]), t);
          }
        }
      }
    }
  }
  return result;
}

namespace {

// Creates parts with B = 2, h = 4, d_k = 5, d_v = 3 and random numbers in every Var.
class PartBuilder {
 public:
  PartBuilder(Index queries, bool parameters) : queries_(queries), parameters_(parameters) {}

  Var random_var(Shape shape, double scale = 1) {
    const Tensor numbers = random_tensor(std::move(shape), ++seed_, scale);
    return parameters_ ? Var::parameter(numbers) : Var(numbers);
  }
  // Maps offsets -4 to 5 to columns in [0, buckets), in a shuffled order. Every column occurs,
  // because the step 11 is coprime to all values of `buckets` in this file.
  static OffsetIndexPtr index(Index buckets) {
    OffsetIndex index;
    index.min = -4;
    for (Index o = 0; o < 10; ++o) {
      index.column.push_back(static_cast<std::int32_t>((o * 11 + 2) % buckets));
    }
    return std::make_shared<const OffsetIndex>(index);
  }
  Part plain_part(Index kv_heads = heads) {
    Part part;
    part.batch = batch;
    part.heads = heads;
    part.q = random_var({pairs, queries_, key_size});
    part.k = random_var({batch * kv_heads, queries_, key_size});
    part.v = random_var({batch * kv_heads, queries_, value_size});
    part.scale = 0.7F;
    part.pattern = std::make_shared<const Pattern>(Pattern::all(queries_, queries_));
    return part;
  }
  void add(const std::string& name, const Part& part) { parts_.push_back({name, part}); }

  void add_ingredients();
  void add_sources();
  void add_normalisers();
  void add_patterns();
  void add_positions();
  std::vector<NamedPart> take() { return std::move(parts_); }

 private:
  static constexpr Index batch = 2, heads = 4, pairs = batch * heads, key_size = 5, value_size = 3;
  Index queries_;
  bool parameters_;
  std::uint64_t seed_ = 0;
  std::vector<NamedPart> parts_;
};

void PartBuilder::add_ingredients() {
  add("plain", plain_part());
  add("grouped heads", plain_part(2));
  Part part = plain_part();
  part.relu = true;
  add("relu", part);
  part = plain_part();
  part.products.push_back({random_var({pairs, queries_, 2}), random_var({pairs, queries_, 2})});
  part.products.push_back({random_var({heads, queries_, 3}), random_var({heads, queries_, 3})});
  add("products", part);
  part = plain_part(2);
  part.query_rows = RelativeRows{random_var({1, 7, key_size}), index(7)};
  add("query rows", part);
  part.query_rows = RelativeRows{random_var({heads, 7, key_size}), index(7)};
  add("query rows by head", part);
  part = plain_part(2);
  part.key_rows = {{random_var({heads, 7, key_size}), index(7)},
                   {random_var({1, 1, key_size}), index(1)}};
  add("key rows", part);
  part = plain_part();
  part.scaled_biases = {{random_var({heads, 4}), index(4)}, {random_var({1, 6}), index(6)}};
  add("scaled biases", part);
  part = plain_part();
  part.bias = OffsetTable{random_var({heads, 6}), index(6)};
  add("bias", part);
  part.bias = OffsetTable{random_var({1, 6}), index(6)};
  add("shared bias", part);
  part = plain_part();
  part.factor = OffsetTable{random_var({heads, 6}), index(6)};
  add("factor", part);
  part = plain_part(2);
  part.value_rows = RelativeRows{random_var({1, 8, value_size}), index(8)};
  add("value rows", part);
  part = plain_part(2);
  part.relu = true;
  part.products = {{random_var({heads, queries_, 3}), random_var({heads, queries_, 3})}};
  part.query_rows = RelativeRows{random_var({heads, 7, key_size}), index(7)};
  part.key_rows = {{random_var({heads, 6, key_size}), index(6)}};
  part.scaled_biases = {{random_var({heads, 4}), index(4)}};
  part.bias = OffsetTable{random_var({heads, 3}), index(3)};
  part.factor = OffsetTable{random_var({heads, 5}), index(5)};
  part.value_rows = RelativeRows{random_var({heads, 8, value_size}), index(8)};
  add("all together", part);
}

void PartBuilder::add_sources() {
  Part part = plain_part(2);
  part.source = Source::Additive;
  part.additive_q = random_var({heads, key_size, 6});
  part.additive_k = random_var({heads, key_size, 6});
  part.additive_v = random_var({heads, 6});
  add("additive", part);
  part = plain_part();
  part.source = Source::Logits;
  part.q = part.k = Var();
  part.logits = random_var({pairs, queries_, queries_});
  add("logits", part);
  part.logits = random_var({heads, queries_, queries_});
  part.bias = OffsetTable{random_var({heads, 3}), index(3)};
  add("shared logits and bias", part);
  part.logits = random_var({pairs, queries_, 6});
  part.logits_index = index(6);
  add("logits by offset", part);
}

void PartBuilder::add_normalisers() {
  Part part = plain_part();
  part.normaliser = Normaliser::None;
  add("no normaliser", part);
  part.scale = 1;  // the form with running sums
  add("plain sums", part);
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, queries_));
  add("causal plain sums", part);
  part = plain_part(2);
  part.q = random_var({pairs, queries_, key_size}, 0.1);
  part.k = random_var({batch * 2, queries_, key_size}, 0.1);
  for (Var* features : {&part.q, &part.k}) {
    Tensor positive = features->value();
    for (float& x : positive) x = 0.1F + std::abs(x);
  }
  part.scale = 1;
  part.normaliser = Normaliser::FeatureRatio;
  add("feature ratio", part);
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, queries_));
  add("causal feature ratio", part);
  PatternBuilder band(1, queries_, queries_, {"band"});
  for (Index i = 0; i < queries_; ++i) {
    band.add(0, i - 5, i + 6);
    band.next_row();
  }
  part.pattern = std::make_shared<const Pattern>(band.finish());
  add("feature ratio in a band", part);
  part = plain_part();
  part.normaliser = Normaliser::SpanSoftmax;
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, queries_));
  part.span_ramp = 3.3;
  part.max_span = 100;
  part.span = random_var({heads}, 4);
  add("span", part);
  part.span = random_var({pairs, queries_}, 4);
  add("span by query", part);
  part.score_cap = 1.5F;
  part.sinks = random_var({heads});
  add("span with capped scores and sinks", part);
  part = plain_part(2);
  part.score_cap = 1.5F;
  add("capped scores", part);
  part.bias = OffsetTable{random_var({heads, 6}), index(6)};
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, queries_));
  part.sinks = random_var({heads});
  add("capped scores with a bias and sinks", part);
  part = plain_part(2);
  part.sinks = random_var({heads}, 2);
  add("sinks", part);
}

void PartBuilder::add_patterns() {
  Part part = plain_part(2);
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, queries_));
  add("causal", part);
  const auto add_pattern = [&](const std::string& name, Index pattern_heads, auto fill_row) {
    PatternBuilder builder(pattern_heads, queries_, queries_, {"a", "b"});
    for (Index a = 0; a < pattern_heads; ++a) {
      for (Index i = 0; i < queries_; ++i) {
        fill_row(builder, a, i);
        builder.next_row();
      }
    }
    part.pattern = std::make_shared<const Pattern>(builder.finish());
    add(name, part);
  };
  part.bias = OffsetTable{random_var({heads, 6}), index(6)};
  add_pattern("band", 1, [](PatternBuilder& b, Index, Index i) { b.add(0, i - 9, i + 10); });
  add_pattern("dilated band and global", 1, [](PatternBuilder& b, Index, Index i) {
    b.add(0, i - 8, i + 9, 4);
    b.add(1, 0, 2);
  });
  const Index stride = std::clamp<Index>(queries_ / 2, 1, 7);  // the last rows have several keys
  add_pattern("strided", 1,
              [&](PatternBuilder& b, Index, Index i) { b.add(0, i % stride, i + 1, stride); });
  add_pattern("by head, with empty rows", heads, [&](PatternBuilder& b, Index a, Index i) {
    if ((i + a) % 3 == 0) return;
    b.add(0, (i * 5 + a) % queries_, (i * 5 + a) % queries_ + 3);
    b.add(1, 0, queries_, 11 + a);
  });
  add_pattern("blocks", 1, [](PatternBuilder& b, Index, Index i) {
    b.add(0, i / 16 * 16, i / 16 * 16 + 16);
    b.add(1, i / 16 * 48, i / 16 * 48 + 16);
  });
}

void PartBuilder::add_positions() {
  const Index memory = 5, keys = queries_ + memory;
  Part part = plain_part();
  part.k = random_var({pairs, keys, key_size});
  part.v = random_var({pairs, keys, value_size});
  part.pattern = std::make_shared<const Pattern>(Pattern::causal(queries_, keys, memory));
  for (Index c = 0; c < keys; ++c) part.pos_k.push_back(static_cast<std::int32_t>(c - memory));
  part.bias = OffsetTable{random_var({heads, 6}), index(6)};
  part.query_rows = RelativeRows{random_var({heads, 7, key_size}), index(7)};
  add("memory", part);
  for (std::int32_t& p : part.pos_k) p = p < 0 ? p * 3 : p;
  part.key_rows = {{random_var({heads, 7, key_size}), index(7)}};
  part.value_rows = RelativeRows{random_var({heads, 8, value_size}), index(8)};
  add("compressed memory", part);
  const std::vector<std::int32_t> head_positions = part.pos_k;
  for (Index a = 1; a < heads; ++a) {
    for (const std::int32_t p : head_positions) {
      part.pos_k.push_back(p < 0 ? p - static_cast<std::int32_t>(a) : p);
    }
  }
  for (Index i = 0; i < queries_; ++i) part.pos_q.push_back(static_cast<std::int32_t>(i / 2));
  add("positions by head", part);
}

}  // namespace

std::vector<NamedPart> named_parts(Index queries, bool parameters) {
  PartBuilder maker(queries, parameters);
  maker.add_ingredients();
  maker.add_sources();
  maker.add_normalisers();
  maker.add_patterns();
  maker.add_positions();
  return maker.take();
}

Tensor to_tensor(const Shape& shape, const std::vector<double>& numbers) {
  Tensor t(shape);
  for (Index i = 0; i < t.size(); ++i) {
    t[i] = static_cast<float>(numbers[static_cast<std::size_t>(i)]);
  }
  return t;
}

}  // namespace attnscope::testing
