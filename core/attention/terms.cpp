#include "core/attention/terms.h"

#include <algorithm>

#include "core/attention/backend.h"
#include "core/attention/cpu/tile_scores.h"

namespace attnscope {
namespace {

// Copy of a part without score ingredients.
Part copy_without_scores(const Part& part) {
  Part copy;
  copy.batch = part.batch;
  copy.heads = part.heads;
  copy.pos_q = part.pos_q;
  copy.pos_k = part.pos_k;
  copy.pattern = part.pattern;
  copy.normaliser = part.normaliser == Normaliser::SpanSoftmax ? part.normaliser : Normaliser::None;
  copy.span = part.span;
  copy.span_ramp = part.span_ramp;
  copy.max_span = part.max_span;
  return copy;
}

// Adds the scores of `part` to a term.
void add_term(std::map<Term, Tensor>& terms, Term term, const Part& part) {
  ResultRequest wanted;
  wanted.output = false;
  wanted.scores = true;
  Tensor scores = cpu_backend().run(part, wanted).scores;
  const auto [entry, is_first] = terms.emplace(term, scores);
  if (is_first) return;
  std::transform(entry->second.begin(), entry->second.end(), scores.begin(), entry->second.begin(),
                 std::plus<>());
}

}  // namespace

std::map<Term, Tensor> score_terms(const Part& part) {
  std::map<Term, Tensor> terms;
  const auto scoreless_part = [&] {
    Part result = copy_without_scores(part);
    result.scale = part.scale;
    return result;
  };
  if (part.split.empty()) {
    Part content = scoreless_part();
    content.source = part.source;
    content.q = part.q;
    content.k = part.k;
    content.relu = part.relu;
    content.additive_q = part.additive_q;
    content.additive_k = part.additive_k;
    content.additive_v = part.additive_v;
    content.logits = part.logits;
    content.logits_index = part.logits_index;
    add_term(terms, Term::Content, content);
  }
  for (const auto* products : {&part.split, &part.products}) {
    for (const ExtraProduct& product : *products) {
      Part single = scoreless_part();
      single.products = {product};
      add_term(terms, product.term, single);
    }
  }
  if (part.query_rows) {
    Part single = scoreless_part();
    single.q = part.q;
    single.query_rows = part.query_rows;
    add_term(terms, part.query_rows->term, single);
  }
  for (const RelativeRows& rows : part.key_rows) {
    Part single = scoreless_part();
    single.k = part.k;
    single.key_rows = {rows};
    add_term(terms, rows.term, single);
  }
  for (const OffsetTable& table : part.scaled_biases) {
    Part single = scoreless_part();
    single.scaled_biases = {table};
    add_term(terms, table.term, single);
  }
  for (const auto* table : {&part.bias, &part.factor}) {
    if (!*table) continue;
    Part single = scoreless_part();
    single.bias = *table;
    add_term(terms, table == &part.factor ? Term::Factor : (*table)->term, single);
  }
  return terms;
}

std::vector<ExtraProduct> split_products(const Addends& queries, const Addends& keys) {
  return {{queries.content, keys.content, Term::Content},
          {queries.content, keys.position, Term::ContentPosition},
          {queries.position, keys.content, Term::PositionContent},
          {queries.position, keys.position, Term::PositionPosition}};
}

}  // namespace attnscope
