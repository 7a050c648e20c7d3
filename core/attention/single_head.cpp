#include "core/attention/single_head.h"

#include <stdexcept>

namespace attnscope {
namespace {

// A head's slice of an array whose first axis is heads, groups of heads, or 1.
Var of_head(const Var& var, Index head, Index heads) {
  if (!var.defined()) return var;
  return var.value().slice(head / (heads / var.dim(0)), 1);
}

Pattern of_head(const Pattern& pattern, Index head) {
  PatternBuilder rows(1, pattern.queries(), pattern.keys(), pattern.rules());
  for (Index i = 0; i < pattern.queries(); ++i) {
    for (const Run& run : pattern.row(head, i)) rows.add(run.rule, run.begin, run.end, run.step);
    rows.next_row();
  }
  return rows.finish();
}

}  // namespace

Part single_head(const Part& part, Index head) {
  if (part.batch != 1) throw std::logic_error("attention part: expected batch 1");
  Part one = part;
  one.heads = 1;
  const auto cut = [&](Var& var) { var = of_head(var, head, part.heads); };
  for (Var* var : {&one.q, &one.k, &one.v, &one.additive_q, &one.additive_k, &one.additive_v,
                   &one.logits, &one.span, &one.sinks}) {
    cut(*var);
  }
  for (auto* products : {&one.products, &one.split}) {
    for (ExtraProduct& product : *products) {
      cut(product.q);
      cut(product.k);
    }
  }
  if (one.query_rows) cut(one.query_rows->rows);
  if (one.value_rows) cut(one.value_rows->rows);
  for (RelativeRows& rows : one.key_rows) cut(rows.rows);
  for (OffsetTable& table : one.scaled_biases) cut(table.table);
  if (one.bias) cut(one.bias->table);
  if (one.factor) cut(one.factor->table);
  if (const Index keys = part.keys(); static_cast<Index>(part.pos_k.size()) > keys) {
    one.pos_k.assign(part.pos_k.begin() + head * keys, part.pos_k.begin() + (head + 1) * keys);
  }
  one.pattern = part.pattern->heads() == 1
                    ? part.pattern
                    : std::make_shared<const Pattern>(of_head(*part.pattern, head));
  return one;
}

}  // namespace attnscope
