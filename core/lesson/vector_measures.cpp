// Measures of scores, keys and caches.
#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"

namespace attnscope {
namespace {

// part: of the tap; may be null.
double pair_score_of(const Part* part, Index head, Index query, Index key) {
  const bool has_softmax = part != nullptr && (part->normaliser == Normaliser::Softmax ||
                                               part->normaliser == Normaliser::SpanSoftmax);
  const auto pair = has_softmax ? pair_score(*part, head, query, key) : std::nullopt;
  if (!pair) throw InputError("the claim requires pair scores, which the head does not have");
  return pair->score;
}

double score(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  check_index(claim.query, tap.queries(), "query");
  check_index(claim.key, tap.keys(), "key");
  return pair_score_of(tap.part().get(), head, claim.query, claim.key);
}

// Standard deviation of the head's scores over the allowed pairs.
double score_spread(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const Pattern& pattern = *tap.result.pattern;
  const std::shared_ptr<const Part> part = tap.part();
  double count = 0, sum = 0, squares = 0;
  for (Index i = 0; i < pattern.queries(); ++i) {
    for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, i)) {
      for (Index c = run.begin; c < run.end; c += run.step) {
        const double value = pair_score_of(part.get(), head, i, c);
        ++count;
        sum += value;
        squares += value * value;
      }
    }
  }
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0));
}

double largest_weight(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  double sum = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const float* row = weights.data() + i * weights.dim(1);
    sum += static_cast<double>(*std::max_element(row, row + weights.dim(1)));
  }
  return sum / static_cast<double>(weights.dim(0));
}

void check_has_part(const AttentionTap& tap) {
  if (!tap.settings()) throw InputError("the claim requires queries and keys, found none");
}

// Keys [L_k, d_k] of the head, possibly shared with other heads.
Tensor keys_of(const Part& part, Index head) {
  if (!part.k.defined()) throw InputError("the claim requires keys, which the head does not have");
  const Tensor& all_keys = part.k.value();  // [h_kv, L_k, d_k]
  const Index kv_head = head / (part.heads / all_keys.dim(0));
  return all_keys.slice(kv_head, 1).reshaped({all_keys.dim(1), all_keys.dim(2)});
}

double keys_apart(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  check_has_part(tap);
  const std::shared_ptr<const Part> recorded_part = tap.part();
  const Part& part = *recorded_part;
  check_index(head + 1, part.heads, "the next head");
  const Tensor keys = keys_of(part, head);
  const Tensor next_keys = keys_of(part, head + 1);
  return largest(keys.shape(), [&](Index c, Index n) {
    return std::abs(static_cast<double>(keys(c, n)) - static_cast<double>(next_keys(c, n)));
  });
}

// Number of values that a KV cache stores per token, over all layers.
double cached_numbers(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const TracePart part = part_of(trace, claim);
  double count = 0;
  const AttentionTap* last = nullptr;
  for (const HeadRef& ref : trace.heads(part)) {
    const AttentionTap* tap = trace.find(ref);
    if (tap == last) continue;  // another head of this tap
    last = tap;
    check_has_part(*tap);
    for (const Shape& rows : {tap->shapes().part.k, tap->shapes().part.v}) {
      if (rows.empty()) throw InputError("the claim requires keys and values, found none");
      count += static_cast<double>(rows[0] * rows[2]);
    }
  }
  return count;
}

}  // namespace

std::vector<Measure> vector_measures() {
  return {
      {"score", "score of the pair before the softmax", true, true, false, score},
      {"score_spread", "standard deviation of the scores of a head's allowed pairs", false, false,
       false, score_spread},
      {"largest_weight", "mean over the rows of the largest weight", false, false, false,
       largest_weight, MeasureUnit::Share},
      {"keys_apart", "largest difference between the keys of this head and the next", false, false,
       false, keys_apart},
      {"cached_numbers", "numbers per token in the KV cache, over all layers", false, false, false,
       cached_numbers},
  };
}

}  // namespace attnscope
