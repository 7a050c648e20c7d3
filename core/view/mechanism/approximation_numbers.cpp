#include "core/view/mechanism/approximation_numbers.h"

#include <algorithm>

#include "core/analysis/divergence.h"
#include "core/analysis/softmax_weights.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr Index kMaxCompared = 2048;  // limit of tokens

bool holds(const AttentionTap& tap, const char* name) {
  return tap.result.extra.contains(name);
}

Tensor plane(const Tensor& all, Index head) {
  const Index rows = all.dim(1), columns = all.dim(2);
  Tensor one({rows, columns});
  std::copy_n(all.data() + (all.dim(0) == 1 ? 0 : head) * one.size(), one.size(), one.data());
  return one;
}

Tensor softmax_of(const MechanismOf& of) {
  return cached_numbers(of, CacheKey("softmax"), [&] {
    const Index width = of.input.trace.config ? of.input.trace.config->width : 0;
    return softmax_weights(of.tap, of.head, width);
  });
}

// Effective weights of the method on tokens.  [L_q, L]
Tensor implied_weights_of(const MechanismOf& of) {
  if (holds(of.tap, "implied")) return plane(of.tap.result.extra.at("implied"), of.head);
  return of.tap.attention(of.head);
}

Mix mix_of(const MechanismOf& of) {
  if (holds(of.tap, "linformer.projection")) {
    return {plane(of.tap.result.extra.at("linformer.projection"), of.head), true};
  }
  const Part* part = of.tap.result.part.get();
  if (part == nullptr || part->normaliser != Normaliser::FeatureRatio || !part->k.defined()) {
    return {};
  }
  const Tensor& features = part->k.value();  // [h, L, m]
  const Index head = features.dim(0) == 1 ? 0 : of.head;
  Tensor values({features.dim(2), features.dim(1)});
  for (Index i = 0; i < values.dim(0); ++i) {
    for (Index j = 0; j < values.dim(1); ++j) values(i, j) = features(head, j, i);
  }
  return {values, false};
}

TokenAxis axis_of_keys(const MechanismOf& of, Index count) {
  TokenAxis axis = key_axis(of.input.trace, of.tap);
  if (axis.count() == count && of.tap.result.columns.empty()) return axis;
  const Trace& trace = of.input.trace;
  const std::vector<TraceToken>& tokens = trace.tokens_of(of.tap.key_rows);
  TokenAxis result{axis.titles, {}, {}};
  for (Index i = 0; i < count; ++i) {
    const Index at = trace.token_index(of.tap.key_rows, count, i);
    result.labels.push_back(at < 0 ? std::to_string(i)
                                   : tokens[static_cast<std::size_t>(at)].label);
  }
  return result;
}

}  // namespace

bool shows_approximation(const AttentionTap& tap) {
  // "state": sums of key features, reported by all feature-map methods.
  const bool about_tokens = holds(tap, "implied") || tap.keys() <= kMaxCompared;
  return (holds(tap, "exact") || holds(tap, "implied") || holds(tap, "state")) &&
         tap.queries() <= kMaxCompared && about_tokens && tap.input.q.defined() &&
         tap.input.k.defined() && tap.input.k.dim(1) <= kMaxCompared &&
         tap.input.q.dim(1) == tap.queries();
}

bool has_negative(const Tensor& numbers) {
  return std::ranges::any_of(numbers, [](float x) { return x < 0; });
}

Approximation approximation_of(const MechanismOf& of) {
  Approximation a{softmax_of(of),
                  implied_weights_of(of),
                  {},
                  mix_of(of),
                  query_axis(of.input.trace, of.tap),
                  {}};
  a.keys = axis_of_keys(of, a.exact.dim(1));
  if (has_negative(a.implied)) return a;
  a.divergence = cached_numbers(of, CacheKey("divergence from softmax"), [&] {
    const std::vector<double> rows =
        row_divergences(a.exact, a.implied, Divergence::KullbackLeibler);
    Tensor numbers({static_cast<Index>(rows.size())});
    std::ranges::transform(rows, numbers.data(), [](double x) { return static_cast<float>(x); });
    return numbers;
  });
  return a;
}

}  // namespace attnscope
