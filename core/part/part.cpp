#include "core/part/part.h"

#include <algorithm>
#include <stdexcept>

namespace attnscope {
namespace {

[[noreturn]] void fail(const std::string& problem) {
  throw std::logic_error("attention part: " + problem);
}

void check_shape(const Var& var, const char* name, std::initializer_list<Index> heads, Index rows,
                 Index columns = -1) {
  const bool rank_fits = var.rank() == (columns == -1 ? 2 : 3);
  bool heads_fit = false;
  for (const Index h : heads) heads_fit |= rank_fits && var.dim(0) == h;
  if (!rank_fits || !heads_fit || var.dim(1) != rows || (columns >= 0 && var.dim(2) != columns)) {
    fail(std::string(name) + " has the shape " + to_string(var.shape()) + ", expected " +
         to_string(Shape{*heads.begin(), rows, columns}));
  }
}

// Keys or values, which may have room for further rows.
void check_keys(const Var& var, const char* name, Index heads, Index rows) {
  if (var.rank() == 3 && var.dim(1) > rows) rows = var.dim(1);
  check_shape(var, name, {heads}, rows, var.dim(2));
}

void check_index(const OffsetIndexPtr& index, Index buckets, const char* name) {
  if (!index || index->column.empty()) fail(std::string(name) + " has no offset index");
  for (const std::int32_t column : index->column) {
    if (column < 0 || column >= buckets) fail(std::string(name) + " has an index out of range");
  }
}

void check_rows(const RelativeRows& rows, Index heads, Index size, const char* name) {
  check_shape(rows.rows, name, {heads, 1}, rows.rows.dim(1), size);
  check_index(rows.index, rows.rows.dim(1), name);
}

void check_table(const OffsetTable& table, Index heads, const char* name) {
  check_shape(table.table, name, {heads, 1}, table.table.dim(1));
  check_index(table.index, table.table.dim(1), name);
}

void check_position_ingredients(const Part& part) {
  const Index pairs = part.batch * part.heads;
  for (const ExtraProduct& p : part.products) {
    check_shape(p.q, "product q", {pairs, part.heads}, part.queries(), p.q.dim(2));
    check_shape(p.k, "product k", {pairs, part.heads}, part.keys(), p.q.dim(2));
  }
  if (part.query_rows) {
    if (!part.q.defined()) fail("query rows need q");
    check_rows(*part.query_rows, part.heads, part.q.dim(2), "query rows");
  }
  for (const RelativeRows& rows : part.key_rows) {
    if (!part.k.defined()) fail("key rows need k");
    check_rows(rows, part.heads, part.k.dim(2), "key rows");
  }
  for (const OffsetTable& t : part.scaled_biases) check_table(t, part.heads, "scaled bias");
  if (part.factor) check_table(*part.factor, part.heads, "factor");
}

bool has_position_ingredients(const Part& part) {
  return !part.products.empty() || part.query_rows || !part.key_rows.empty() ||
         !part.scaled_biases.empty() || part.factor || part.relu;
}

void check_source(const Part& part) {
  const Index pairs = part.batch * part.heads;
  if (part.source != Source::Product && has_position_ingredients(part)) {
    fail("position ingredients need the product as source");
  }
  if (part.source == Source::Additive) {
    if (!part.q.defined() || !part.k.defined()) fail("additive scores need q and k");
    const Index a = part.additive_v.dim(1);
    check_shape(part.additive_q, "additive q", {part.heads}, part.q.dim(2), a);
    check_shape(part.additive_k, "additive k", {part.heads}, part.k.dim(2), a);
    check_shape(part.additive_v, "additive v", {part.heads}, a);
  }
  if (part.source == Source::Logits) {
    const Index columns = part.logits_index ? part.logits.dim(2) : part.keys();
    check_shape(part.logits, "logits", {pairs, part.heads}, part.queries(), columns);
    if (part.logits_index) check_index(part.logits_index, columns, "logits");
  }
}

}  // namespace

std::string_view to_string(Term term) {
  switch (term) {
    case Term::Content:
      return "content";
    case Term::ContentPosition:
      return "content_position";
    case Term::PositionContent:
      return "position_content";
    case Term::PositionPosition:
      return "position_position";
    case Term::Bias:
      return "bias";
    case Term::Factor:
      return "factor";
  }
  return "";
}

Index Part::kv_heads() const {
  const Var& var = k.defined() ? k : v;
  return var.defined() ? var.dim(0) / batch : heads;
}

bool PartRules::is_global(Index query) const {
  return std::ranges::binary_search(global_rows, static_cast<std::int32_t>(query));
}

PartSettings settings_of(const Part& part) {
  return {part, part};
}

Part::Span Part::numbers_of(const Var& vectors, Index query) const {
  const Index size = vectors.dim(-1);
  if (global_rows.empty()) return {0, size};
  return {is_global(query) ? size / 2 : 0, size / 2};
}

void check(const Part& part) {
  if (!part.pattern) fail("no pattern");
  const Index pairs = part.batch * part.heads, kv = part.batch * part.kv_heads();
  if (part.pattern->heads() != 1 && part.pattern->heads() != part.heads) {
    fail("the pattern has " + std::to_string(part.pattern->heads()) + " heads, expected 1 or " +
         std::to_string(part.heads));
  }
  if (part.kv_heads() < 1 || part.heads % part.kv_heads() != 0)
    fail("heads: expected a multiple of the key-value heads");
  const auto pos_q = static_cast<Index>(part.pos_q.size());
  const auto pos_k = static_cast<Index>(part.pos_k.size());
  if (pos_q != 0 && pos_q != part.queries()) fail("wrong number of query positions");
  if (pos_k != 0 && pos_k != part.keys() && pos_k != part.heads * part.keys()) {
    fail("wrong number of key positions");
  }
  if (part.q.defined()) check_shape(part.q, "q", {pairs}, part.queries(), part.q.dim(2));
  if (part.k.defined()) check_keys(part.k, "k", kv, part.keys());
  if (part.q.defined() && part.k.defined() && part.q.dim(2) != part.k.dim(2)) {
    fail("q and k differ in size");
  }
  if (part.v.defined()) check_keys(part.v, "v", kv, part.keys());
  check_source(part);
  check_position_ingredients(part);
  if (part.bias) check_table(*part.bias, part.heads, "bias");
  if (!(part.score_cap >= 0)) fail("the cap of scores must not be negative");
  if (part.sinks.defined() && part.sinks.shape() != Shape{part.heads}) fail("attention sinks");
  if ((part.sinks.defined() || part.score_cap > 0) && part.normaliser != Normaliser::Softmax &&
      part.normaliser != Normaliser::SpanSoftmax && part.normaliser != Normaliser::None) {
    fail("score caps and sinks need a softmax");
  }
  if (part.value_rows) {
    if (!part.v.defined()) fail("value rows need v");
    check_rows(*part.value_rows, part.heads, part.v.dim(2), "value rows");
  }
  if (part.normaliser == Normaliser::SpanSoftmax) {
    const bool has_head_spans = part.span.rank() == 1 && part.span.dim(0) == part.heads;
    if (!has_head_spans) check_shape(part.span, "span", {pairs}, part.queries());
    if (!(part.span_ramp > 0)) fail("the span's ramp must be positive");
  }
  if (part.normaliser == Normaliser::FeatureRatio &&
      (part.source != Source::Product || has_position_ingredients(part) || part.bias ||
       part.value_rows || !part.q.defined() || !part.k.defined())) {
    fail("FeatureRatio accepts no ingredients except q, k and v");
  }
}

HeadTensors<Tensor> values_of(const HeadTensors<Var>& vectors) {
  return {vectors.q.value(), vectors.k.value(), vectors.v.value()};
}

std::vector<Var> ingredients(const Part& part) {
  std::vector<Var> vars;
  const auto add = [&vars](const Var& var) {
    if (var.defined()) vars.push_back(var);
  };
  add(part.q);
  add(part.k);
  add(part.v);
  for (const ExtraProduct& p : part.products) {
    add(p.q);
    add(p.k);
  }
  if (part.query_rows) add(part.query_rows->rows);
  for (const RelativeRows& r : part.key_rows) add(r.rows);
  for (const OffsetTable& t : part.scaled_biases) add(t.table);
  if (part.bias) add(part.bias->table);
  if (part.factor) add(part.factor->table);
  if (part.source == Source::Additive) {
    add(part.additive_q);
    add(part.additive_k);
    add(part.additive_v);
  }
  if (part.source == Source::Logits) add(part.logits);
  if (part.normaliser == Normaliser::SpanSoftmax) add(part.span);
  add(part.sinks);
  if (part.value_rows) add(part.value_rows->rows);
  return vars;
}

}  // namespace attnscope
