#include "core/view/scores/score_stages.h"

#include <cmath>
#include <limits>

#include "core/attention/single_head.h"
#include "core/attention/terms.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/term_words.h"

namespace attnscope {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr Index kMaxPairs = Index{1} << 22;
// Kinds of cached terms besides the enumerators of Term.
constexpr int kUnrotated = -1, kRotation = -2, kSum = -3, kMixed = -4, kCapEffect = -5;

TermText kind_words(int kind) {
  switch (kind) {
    case kUnrotated:
      return {"content (before RoPE)", "content"};
    case kRotation:
      return {"effect of RoPE", "RoPE"};
    case kCapEffect:
      return {"effect of the cap", "cap"};
    case kSum:
      return {"score", "score"};
    case kMixed:
      return term_text(Term::Content, true);
    default:
      return term_text(static_cast<Term>(kind), false);
  }
}

struct Terms {
  std::vector<int> kinds;
  std::vector<Tensor> cells;  // [1, L_q, L_k] for each term
};

Tensor computed_scores(const Part& part) {
  ResultRequest wanted;
  wanted.output = false;
  wanted.scores = true;
  return cpu_backend().run(part, wanted).scores;
}

// True if the encoding has rotated q and k.
bool is_rotated(const AttentionTap& tap, const AttentionVectors& vectors) {
  const HeadTensors<Tensor>& input = vectors.input;
  const Part& part = *vectors.part;
  return encoding(tap.encoding.id).apply && input.q.defined() && input.k.defined() &&
         input.q.shape() == part.q.shape() && input.k.shape() == part.k.shape() &&
         input.q.data() != part.q.value().data();
}

Terms computed_terms(const Trace& trace, const AttentionTap& tap, Index head) {
  const std::shared_ptr<const AttentionVectors> vectors = tap.vectors.get();
  const Part& all_heads = *vectors->part;
  const Part part = single_head(all_heads, head);
  Terms result;
  const std::map<Term, Tensor> terms = score_terms(part);
  if (terms.size() == 1 && is_rotated(tap, *vectors)) {
    Part unrotated_part = all_heads;
    unrotated_part.q = vectors->input.q;
    unrotated_part.k = vectors->input.k;
    unrotated_part.score_cap = 0;
    const Tensor unrotated = computed_scores(single_head(unrotated_part, head));
    const Tensor& content = terms.begin()->second;
    Tensor effect(content.shape());
    for (Index n = 0; n < effect.size(); ++n) effect[n] = content[n] - unrotated[n];
    result = {{kUnrotated, kRotation}, {unrotated, effect}};
  } else {
    const bool has_positions = has_positions_in_content(trace, tap);
    for (const auto& [term, cells] : terms) {
      result.kinds.push_back(has_positions && term == Term::Content ? kMixed
                                                                    : static_cast<int>(term));
      result.cells.push_back(cells);
    }
  }
  const Tensor scores = computed_scores(part);
  if (part.score_cap > 0) {
    Part uncapped = part;
    uncapped.score_cap = 0;
    Tensor effect = computed_scores(uncapped);
    for (Index n = 0; n < effect.size(); ++n) effect[n] = scores[n] - effect[n];
    result.kinds.push_back(kCapEffect);
    result.cells.push_back(effect);
  }
  result.kinds.push_back(kSum);
  result.cells.push_back(scores);
  return result;
}

// Stacks the terms; NaN for excluded pairs.  [n, L_q, L_k]
Tensor stacked(const Terms& terms, const Pattern& pattern, Index head) {
  const Index queries = pattern.queries(), keys = pattern.keys();
  Tensor stack = Tensor::full({static_cast<Index>(terms.cells.size()), queries, keys},
                              std::numeric_limits<float>::quiet_NaN());
  for (std::size_t n = 0; n < terms.cells.size(); ++n) {
    for (Index i = 0; i < queries; ++i) {
      const float* source = terms.cells[n].data() + i * keys;
      float* target = stack.data() + (static_cast<Index>(n) * queries + i) * keys;
      for (const Run& run : pattern.row(pattern.heads() == 1 ? 0 : head, i)) {
        for (Index k = run.begin; k < run.end; k += run.step) target[k] = source[k];
      }
    }
  }
  return stack;
}

}  // namespace

Refusal refusal_of_scores(const Trace& trace, const AttentionTap& tap) {
  if (trace.is_imported) {
    return {"No queries and keys in this file", kImportedAttentionAdvice};
  }
  const Variant& entry = variant(tap.variant.id);
  const bool has_terms = entry.scores.has_terms(tap.variant.values);
  if (tap.settings() == nullptr || !has_terms) {
    if (has_terms) {
      return {"No scores recorded", "This run records weights, but not q and k."};
    }
    return {entry.label + " has no separate score terms",
            "Its weights are not a softmax over sums of content and position. Choose "
            "full attention or a fixed pattern to see terms."};
  }
  const HeadTensors<Shape>& shapes = tap.shapes().part;
  if (tap.settings()->source != Source::Product || shapes.q.empty() || shapes.k.empty()) {
    return {entry.label + " has no separate score terms",
            "Its scores are not products of q and k."};
  }
  if (tap.queries() > kMaxPairs / tap.keys()) {
    return {"Too many tokens for scores",
            "This view shows the scores of up to 2,048 tokens. Use a shorter text."};
  }
  return {};
}

std::vector<ScoreMap> score_maps(const ViewInput& input, const AttentionTap& tap, Index head) {
  const std::shared_ptr<const Pattern>& pattern = tap.result.pattern;
  std::optional<Terms> terms;
  const auto get_terms = [&]() -> const Terms& {
    if (!terms) terms = computed_terms(input.trace, tap, head);
    return *terms;
  };
  const auto kinds = [&] {
    Tensor kind_list({static_cast<Index>(get_terms().kinds.size())});
    for (Index n = 0; n < kind_list.size(); ++n) {
      kind_list[n] = static_cast<float>(get_terms().kinds[static_cast<std::size_t>(n)]);
    }
    return kind_list;
  };
  const auto cells = [&] { return stacked(get_terms(), *pattern, head); };
  const ViewSettings& settings = input.session.view;
  const CacheKey key = head_key("scores", input.trace, settings);
  ViewCache* cache = input.cache;
  const Tensor kind_list = cache ? cache->matrix(pattern, key.with("terms"), kinds) : kinds();
  const Tensor maps = cache ? cache->matrix(pattern, key, cells) : cells();
  std::vector<ScoreMap> result;
  for (Index n = 0; n < kind_list.size(); ++n) {
    const int kind = static_cast<int>(kind_list[n]);
    result.push_back({kind_words(kind).full, kind_words(kind).brief,
                      maps.slice(n, 1).reshaped({maps.dim(1), maps.dim(2)}), kind == kSum,
                      kind == static_cast<int>(Term::Factor)});
  }
  return result;
}

RowStages row_stages(const AttentionTap& tap, Index head, Index query,
                     const std::vector<ScoreMap>& maps) {
  RowStages stages;
  const Index keys = tap.keys();
  for (const ScoreMap& map : maps) {
    const float* row = map.cells.data() + query * keys;
    std::vector<double> values(row, row + keys);
    if (map.is_sum) {
      stages.score = std::move(values);
    } else {
      stages.terms.push_back(std::move(values));
    }
  }
  const Tensor weights = attention_row(tap, head, query);
  const std::shared_ptr<const Part> part = tap.part();
  const Tensor& v = part->v.value();  // [h_kv, L_k, d_v]
  const Index value_head = v.defined() ? head / (part->heads / v.dim(0)) : 0;
  const Part::Span components = v.defined() ? part->numbers_of(part->v, query) : Part::Span{};
  for (Index k = 0; k < keys; ++k) {
    const bool is_allowed = std::isfinite(stages.score[static_cast<std::size_t>(k)]);
    const auto weight = static_cast<double>(weights[k]);
    double square = 0;
    for (Index n = components.first; n < components.first + components.count; ++n) {
      const auto x = static_cast<double>(v(value_head, k, n));
      square += x * x;
    }
    stages.weight.push_back(is_allowed ? weight : kNaN);
    stages.contribution.push_back(is_allowed && v.defined() ? weight * std::sqrt(square) : kNaN);
  }
  return stages;
}

}  // namespace attnscope
