// Measures of what maps are made of and what becomes of them: scores, keys, values, and what
// attention adds to a token's vector.
#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

double pair_score_of(const AttentionTap& tap, Index head, Index query, Index key) {
  const Part* part = tap.result.part.get();
  const bool softmax = part != nullptr && (part->normaliser == Normaliser::Softmax ||
                                           part->normaliser == Normaliser::SpanSoftmax);
  const auto pair = softmax ? pair_score(*part, head, query, key) : std::nullopt;
  if (!pair) throw InputError("a claim is about scores of pairs, and the head has none");
  return pair->score;
}

double score(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  need(claim.query, tap.queries(), "query");
  need(claim.key, tap.keys(), "key");
  return pair_score_of(tap, head, claim.query, claim.key);
}

// Of the pairs that the pattern allows.
double score_spread(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const Pattern& pattern = *tap.result.pattern;
  double count = 0, sum = 0, squares = 0;
  for (Index i = 0; i < pattern.queries(); ++i) {
    for (const Run& run : pattern.row(pattern.heads() > 1 ? head : 0, i)) {
      for (Index c = run.begin; c < run.end; c += run.step) {
        const double value = pair_score_of(tap, head, i, c);
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

// The keys or values of a head: [L_k, d], of heads that share them those that it uses.
Tensor shared_rows(const Var& rows, Index heads, Index head, const char* what) {
  if (!rows.defined()) {
    throw InputError("a claim is about " + std::string(what) + ", and the head has none");
  }
  const Tensor& all = rows.value();  // [h_kv, L_k, d]
  const Index own = head / (heads / all.dim(0)), length = all.dim(1), size = all.dim(2);
  Tensor of_head({length, size});
  std::copy_n(all.data() + own * length * size, length * size, of_head.data());
  return of_head;
}

const Part& part_of_tap(const AttentionTap& tap) {
  if (!tap.result.part) throw InputError("a claim is about queries and keys, and there are none");
  return *tap.result.part;
}

double keys_apart(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const Part& part = part_of_tap(tap);
  need(head + 1, part.heads, "the next head");
  const Tensor own = shared_rows(part.k, part.heads, head, "keys");
  const Tensor next = shared_rows(part.k, part.heads, head + 1, "keys");
  return largest(own.shape(), [&](Index c, Index n) {
    return std::abs(static_cast<double>(own(c, n)) - static_cast<double>(next(c, n)));
  });
}

// What a cache holds of each token: its keys and values in all layers.
double cached_numbers(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  const TracePart part = part_of(trace, claim);
  double count = 0;
  const AttentionTap* last = nullptr;
  for (const HeadRef& at : trace.heads(part)) {
    const AttentionTap* tap = trace.find(at);
    if (tap == last) continue;  // another head of the group
    last = tap;
    const Part& kept = part_of_tap(*tap);
    for (const Var& rows : {kept.k, kept.v}) {
      if (!rows.defined()) throw InputError("a claim is about keys and values, and there are none");
      count += static_cast<double>(rows.dim(0) * rows.dim(2));
    }
  }
  return count;
}

// The share of the head's output that lies along it: of all keys these sum to 1.
double value_share(const Traces& traces, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(*traces.trace, claim, &head);
  const Part& part = part_of_tap(tap);
  if (part.normaliser == Normaliser::None || part.value_rows) {
    throw InputError("a claim is about a mean of values, and the head makes none");
  }
  const Tensor weights = tap.attention(head);  // [L_q, L_k]
  const Tensor values = shared_rows(part.v, part.heads, head, "values");
  if (values.dim(0) != weights.dim(1)) {
    throw InputError("a claim is about a mean of values, and the head makes none");
  }
  need(claim.query, weights.dim(0), "query");
  need(claim.key, weights.dim(1), "key");
  double own = 0, all = 0;
  for (Index n = 0; n < values.dim(1); ++n) {
    double sum = 0;
    for (Index c = 0; c < values.dim(0); ++c) {
      sum += static_cast<double>(weights(claim.query, c)) * static_cast<double>(values(c, n));
    }
    own += static_cast<double>(weights(claim.query, claim.key)) *
           static_cast<double>(values(claim.key, n)) * sum;
    all += sum * sum;
  }
  return own / all;
}

double row_length(const Tensor& rows, Index row) {
  double squares = 0;
  for (Index n = 0; n < rows.dim(1); ++n) {
    squares += static_cast<double>(rows(row, n)) * static_cast<double>(rows(row, n));
  }
  return std::sqrt(squares);
}

double attention_adds(const Traces& traces, const Claim& claim) {
  const Trace& trace = *traces.trace;
  tap_of(trace, claim);
  const auto layer = [](Index n) { return "layers." + std::to_string(n) + "."; };
  const auto added = trace.taps.find(layer(claim.layer) + "attention");
  const auto before =
      trace.taps.find(claim.layer == 0 ? "embed" : layer(claim.layer - 1) + "residual");
  if (added == trace.taps.end() || before == trace.taps.end()) {
    throw InputError("a claim is about what attention adds, and the run does not say that");
  }
  need(claim.query, added->second.dim(0), "query");
  return row_length(added->second, claim.query) / row_length(before->second, claim.query);
}

}  // namespace

std::vector<Measure> vector_measures() {
  return {
      {"score", "score of the pair, before the softmax", true, true, false, score},
      {"score_spread", "standard deviation of the scores of a head's allowed pairs", false, false,
       false, score_spread},
      {"largest_weight", "the largest weight of a row, mean over the rows", false, false, false,
       largest_weight},
      {"value_share",
       "the share of what the query gets from this head that is the key's value, weighted", true,
       true, false, value_share},
      {"keys_apart",
       "the largest difference between the keys of this head and those of the next head", false,
       false, false, keys_apart},
      {"cached_numbers", "numbers that a cache of keys and values keeps of each token, all layers",
       false, false, false, cached_numbers},
      {"attention_adds",
       "how long the vector is that the layer's attention adds to the query's, as a share of that",
       true, false, false, attention_adds},
  };
}

}  // namespace attnscope
