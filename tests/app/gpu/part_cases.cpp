#include "tests/app/gpu/part_cases.h"

#include <cmath>
#include <memory>
#include <random>

#include "tests/support/compare.h"
#include "tests/support/pattern_cases.h"

namespace attnscope::testing {
namespace {

OffsetIndexPtr clamped_index(Index reach) {  // buckets 0 .. 2 reach of offsets -reach .. reach
  auto index = std::make_shared<OffsetIndex>();
  index->min = -reach;
  for (Index n = 0; n <= 2 * reach; ++n) {
    index->column.push_back(static_cast<std::int32_t>(n));
  }
  return index;
}

// Unordered buckets, as in T5.
OffsetIndexPtr scrambled_index(Index reach, Index buckets) {
  auto index = std::make_shared<OffsetIndex>();
  index->min = -reach;
  for (Index n = 0; n <= 2 * reach; ++n) {
    index->column.push_back(static_cast<std::int32_t>(n * 7 % buckets));
  }
  return index;
}

RelativeRows relative_rows(Index heads, Index size, std::uint64_t seed, Term term) {
  return {random_tensor({heads, 7, size}, seed), clamped_index(3), term};
}

OffsetTable table(Index heads, std::uint64_t seed, Term term) {
  return {random_tensor({heads, 5}, seed), scrambled_index(9, 5), term};
}

Pattern from_rule(Index heads, Index queries, Index keys,
                  const std::function<bool(Index, Index, Index)>& allowed) {
  PatternBuilder builder(heads, queries, keys, {"rule"});
  for (Index head = 0; head < heads; ++head) {
    for (Index i = 0; i < queries; ++i) {
      for (Index c = 0; c < keys; ++c) {
        if (allowed(head, i, c)) builder.add_column(0, c);
      }
      builder.next_row();
    }
  }
  return builder.finish();
}

}  // namespace

Part base_part(const PartSizes& s) {
  Part part;
  part.batch = s.batch;
  part.heads = s.heads;
  const Index pairs = s.batch * s.heads, kv_pairs = s.batch * s.kv_heads;
  part.q = random_tensor({pairs, s.queries, s.key}, s.seed, s.spread);
  part.k = random_tensor({kv_pairs, s.keys, s.key}, s.seed + 1, s.spread);
  part.v = random_tensor({kv_pairs, s.keys, s.value}, s.seed + 2);
  part.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(s.key)));
  part.pattern = std::make_shared<Pattern>(Pattern::all(s.queries, s.keys));
  return part;
}

Part part_with_pattern(const PatternCase& pattern, const PartSizes& sizes) {
  Part part = base_part(sizes);
  part.pattern = std::make_shared<Pattern>(pattern.make(sizes.heads, sizes.queries, sizes.keys));
  return part;
}

const std::vector<PatternCase>& pattern_cases() {
  static const std::vector<PatternCase> cases{
      {"all", [](Index, Index q, Index k) { return Pattern::all(q, k); }},
      {"causal", [](Index, Index q, Index k) { return Pattern::causal(q, k); }},
      {"window",
       [](Index, Index q, Index k) {
         PatternBuilder builder(1, q, k, {"window"});
         for (Index i = 0; i < q; ++i) {
           builder.add(0, i - 3, i + 2);
           builder.next_row();
         }
         return builder.finish();
       }},
      {"window_and_stride",
       [](Index, Index q, Index k) {
         PatternBuilder builder(1, q, k, {"window", "stride"});
         for (Index i = 0; i < q; ++i) {
           builder.add(0, i - 3, i + 1);
           builder.add(1, i % 5, i + 1, 5);
           builder.next_row();
         }
         return builder.finish();
       }},
      {"two_rules_one_interval",
       [](Index, Index q, Index k) {
         PatternBuilder builder(1, q, k, {"left", "right"});
         for (Index i = 0; i < q; ++i) {
           builder.add(0, i - 4, i);
           builder.add(1, i, i + 4);
           builder.next_row();
         }
         return builder.finish();
       }},
      {"interval_with_empty_rows",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index a, Index i, Index c) {
           return i % 4 != 1 && i / 8 != 1 && c >= a && c <= i;
         });
       }},
      {"scattered_by_head_with_empty_rows",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index a, Index i, Index c) {
           return i % 5 != 2 && (i * 7 + c * 13 + a * 3) % 11 < 3;
         });
       }},
      {"one_pair",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index, Index i, Index c) { return i == 1 && c == 0; });
       }},
      {"one_key_a_row",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [k](Index a, Index i, Index c) { return c == (i * 7 + a) % k; });
       }},
      {"nothing",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index, Index, Index) { return false; });
       }},
      {"strided", [](Index, Index q, Index k) { return strided_pattern(q, k, 5, 6); }},
      {"class_and_lone_keys",  // most rows have a class of keys and a lone key
       [](Index h, Index q, Index k) {
         return build_pattern(h, q, k, 2, [k](PatternBuilder& rows, Index a, Index i) {
           rows.add(0, (i + a) % 8, k, 8);
           if (i % 13 != 4) rows.add_column(1, (i * 37 + a) % k);
         });
       }},
      {"hashed_by_head", [](Index h, Index q, Index k) { return hashed_pattern(h, q, k, 3); }},
      {"any", [](Index, Index q, Index k) { return random_pattern(1, q, k, 8); }},
      {"any_by_head", [](Index h, Index q, Index k) { return random_pattern(h, q, k, 3); }},
      {"scattered", [](Index, Index q, Index k) { return scattered_pattern(1, q, k, 3); }},
      {"wide_and_narrow",
       [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index a, Index i, Index c) {
           return i % 9 == a ? c % 2 == 0 : (i + 5 * c) % 64 == 0;
         });
       }},
      {"each_head_of_another_kind", [](Index h, Index q, Index k) {
         return from_rule(h, q, k, [](Index a, Index i, Index c) {
           return a == 0 ? c <= i : a == 1 ? (i + c) % 5 == 0 : a == 2 && c % 16 == i % 16;
         });
       }}};
  return cases;
}

const std::vector<Ingredient>& ingredient_cases() {
  static const std::vector<Ingredient> cases{
      {"product", [](Part&, const PartSizes&) {}},
      {"relu_factor",
       [](Part& p, const PartSizes& s) {
         p.relu = true;
         p.factor = table(s.heads, 11, Term::Factor);
       }},
      {"bias", [](Part& p, const PartSizes& s) { p.bias = table(s.heads, 12, Term::Bias); }},
      {"bias_shared_by_heads",
       [](Part& p, const PartSizes&) { p.bias = table(1, 13, Term::Bias); }},
      {"scaled_biases",
       [](Part& p, const PartSizes& s) {
         p.scaled_biases = {table(s.heads, 14, Term::PositionPosition), table(1, 15, Term::Bias)};
       }},
      {"query_rows",
       [](Part& p, const PartSizes& s) {
         p.query_rows = relative_rows(1, s.key, 16, Term::ContentPosition);
       }},
      {"key_rows",
       [](Part& p, const PartSizes& s) {
         p.key_rows = {relative_rows(s.heads, s.key, 17, Term::PositionContent),
                       relative_rows(1, s.key, 18, Term::PositionContent)};
       }},
      {"value_rows",
       [](Part& p, const PartSizes& s) {
         p.value_rows = relative_rows(1, s.value, 19, Term::ContentPosition);
       }},
      {"extra_products",
       [](Part& p, const PartSizes& s) {
         p.products = {
             {random_tensor({s.heads, s.queries, 5}, 20), random_tensor({s.heads, s.keys, 5}, 21),
              Term::PositionPosition},
             {random_tensor({s.batch * s.heads, s.queries, s.key}, 22),
              random_tensor({s.batch * s.heads, s.keys, s.key}, 23), Term::PositionContent}};
       }},
      {"everything_at_once",
       [](Part& p, const PartSizes& s) {
         p.relu = true;
         p.factor = table(s.heads, 24, Term::Factor);
         p.bias = table(s.heads, 25, Term::Bias);
         p.scaled_biases = {table(1, 26, Term::PositionPosition)};
         p.query_rows = relative_rows(s.heads, s.key, 27, Term::ContentPosition);
         p.key_rows = {relative_rows(1, s.key, 28, Term::PositionContent)};
         p.value_rows = relative_rows(s.heads, s.value, 29, Term::ContentPosition);
         p.products = {{random_tensor({s.heads, s.queries, 6}, 30),
                        random_tensor({s.heads, s.keys, 6}, 31), Term::PositionPosition}};
       }},
      {"positions",
       [](Part& p, const PartSizes& s) {
         p.bias = table(s.heads, 32, Term::Bias);
         for (Index i = 0; i < s.queries; ++i) {
           p.pos_q.push_back(static_cast<std::int32_t>(2 * i + 1));
         }
         for (Index c = 0; c < s.heads * s.keys; ++c) {  // separate key positions for each head
           p.pos_k.push_back(static_cast<std::int32_t>(c % 17 - 5));
         }
       }},
      {"additive",
       [](Part& p, const PartSizes& s) {
         p.source = Source::Additive;
         p.additive_q = random_tensor({s.heads, s.key, 6}, 33, 0.5);
         p.additive_k = random_tensor({s.heads, s.key, 6}, 34, 0.5);
         p.additive_v = random_tensor({s.heads, 6}, 35);
         p.bias = table(s.heads, 36, Term::Bias);
       }},
      {"logits",
       [](Part& p, const PartSizes& s) {
         p.source = Source::Logits;
         p.q = p.k = Var();
         p.logits = random_tensor({s.batch * s.heads, s.queries, s.keys}, 37, 3);
       }},
      {"logits_by_offset",
       [](Part& p, const PartSizes& s) {
         p.source = Source::Logits;
         p.q = p.k = Var();
         p.logits = random_tensor({s.heads, s.queries, 7}, 38, 3);
         p.logits_index = clamped_index(3);
       }},
      {"capped_scores", [](Part& p, const PartSizes&) { p.score_cap = 0.7F; }},
      {"sinks", [](Part& p, const PartSizes& s) { p.sinks = random_tensor({s.heads}, 41, 3); }},
      {"span_capped_with_sinks",
       [](Part& p, const PartSizes& s) {
         p.normaliser = Normaliser::SpanSoftmax;
         p.span = random_tensor({s.heads}, 39, 4);
         p.span_ramp = 3;
         p.max_span = 20;
         p.bias = table(s.heads, 42, Term::Bias);
         p.score_cap = 2;
         p.sinks = random_tensor({s.heads}, 43);
       }},
      {"span_by_head",
       [](Part& p, const PartSizes& s) {
         p.normaliser = Normaliser::SpanSoftmax;
         p.span = random_tensor({s.heads}, 39, 4);
         p.span_ramp = 6;
         p.max_span = 20;
       }},
      {"span_by_row",
       [](Part& p, const PartSizes& s) {
         p.normaliser = Normaliser::SpanSoftmax;
         p.span = random_tensor({s.batch * s.heads, s.queries}, 40, 8);
         p.span_ramp = 3;
         p.max_span = 20;
       }},
      {"feature_ratio",
       [](Part& p, const PartSizes& s) {
         p.normaliser = Normaliser::FeatureRatio;
         Tensor q = random_tensor({s.batch * s.heads, s.queries, s.key}, 41);
         Tensor k = random_tensor({s.batch * s.kv_heads, s.keys, s.key}, 42);
         for (float& x : q) x = std::abs(x) + 0.1f;
         for (float& x : k) x = std::abs(x) + 0.1f;
         p.q = q;
         p.k = k;
       }},
      {"no_normaliser", [](Part& p, const PartSizes&) { p.normaliser = Normaliser::None; }},
  };
  return cases;
}

}  // namespace attnscope::testing
