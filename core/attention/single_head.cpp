#include "core/attention/single_head.h"

#include <stdexcept>

namespace attnscope {
namespace {

// Slice of one head from an array whose first axis counts heads or groups of heads, or is 1.
Var slice_head(const Var& var, Index head, Index heads) {
  if (!var.defined()) return var;
  return var.value().slice(head / (heads / var.dim(0)), 1);
}

Pattern head_pattern(const Pattern& pattern, Index head) {
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
  Part single = part;
  single.heads = 1;
  const auto select = [&](Var& var) { var = slice_head(var, head, part.heads); };
  for (Var* var : {&single.q, &single.k, &single.v, &single.additive_q, &single.additive_k,
                   &single.additive_v, &single.logits, &single.span, &single.sinks}) {
    select(*var);
  }
  for (auto* products : {&single.products, &single.split}) {
    for (ExtraProduct& product : *products) {
      select(product.q);
      select(product.k);
    }
  }
  if (single.query_rows) select(single.query_rows->rows);
  if (single.value_rows) select(single.value_rows->rows);
  for (RelativeRows& rows : single.key_rows) select(rows.rows);
  for (OffsetTable& table : single.scaled_biases) select(table.table);
  if (single.bias) select(single.bias->table);
  if (single.factor) select(single.factor->table);
  if (const Index keys = part.keys(); static_cast<Index>(part.pos_k.size()) > keys) {
    single.pos_k.assign(part.pos_k.begin() + head * keys, part.pos_k.begin() + (head + 1) * keys);
  }
  single.pattern = part.pattern->heads() == 1
                       ? part.pattern
                       : std::make_shared<const Pattern>(head_pattern(*part.pattern, head));
  return single;
}

}  // namespace attnscope
