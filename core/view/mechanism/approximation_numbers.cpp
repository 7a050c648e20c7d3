#include "core/view/mechanism/approximation_numbers.h"

#include <algorithm>

#include "core/analysis/divergence.h"
#include "core/analysis/softmax_weights.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr Index kMaxCompared = 2048;  // tokens

bool has_extra(const AttentionTap& tap, const char* name) {
  return tap.result.extra.contains(name);
}

Tensor head_plane(const Tensor& maps, Index head) {
  const Index rows = maps.dim(1), columns = maps.dim(2);
  Tensor map({rows, columns});
  std::copy_n(maps.data() + (maps.dim(0) == 1 ? 0 : head) * map.size(), map.size(), map.data());
  return map;
}

Tensor softmax_of(const HeadInput& in) {
  return cached_numbers(in, CacheKey("softmax"), [&] {
    const Index width = in.input.trace.config ? in.input.trace.config->width : 0;
    return softmax_weights(in.tap, in.head, width);
  });
}

// Effective weights of the method on tokens.  [L_q, L]
Tensor implied_of(const HeadInput& in) {
  if (has_extra(in.tap, "implied")) return head_plane(in.tap.result.extra.at("implied"), in.head);
  return in.tap.attention(in.head);
}

Mix mix_of(const HeadInput& in) {
  if (has_extra(in.tap, "linformer.projection")) {
    return {head_plane(in.tap.result.extra.at("linformer.projection"), in.head), true};
  }
  const std::shared_ptr<const Part> part = in.tap.part();
  const bool has_features =
      part != nullptr && part->k.defined() &&
      (part->normaliser == Normaliser::FeatureRatio || has_extra(in.tap, "features.rotated_k"));
  if (!has_features) return {};
  const Tensor& features = part->k.value();  // [h, L, m]
  const Index head = features.dim(0) == 1 ? 0 : in.head;
  Tensor values({features.dim(2), features.dim(1)});
  for (Index i = 0; i < values.dim(0); ++i) {
    for (Index j = 0; j < values.dim(1); ++j) values(i, j) = features(head, j, i);
  }
  return {values, false};
}

TokenAxis compared_keys(const HeadInput& in, Index count) {
  TokenAxis axis = key_axis(in.input.trace, in.tap);
  if (axis.count() == count && in.tap.result.columns.empty()) return axis;
  const Trace& trace = in.input.trace;
  const std::vector<TraceToken>& tokens = trace.tokens_of(in.tap.key_rows);
  TokenAxis result{axis.titles, {}, {}};
  for (Index i = 0; i < count; ++i) {
    const Index index = trace.token_index(in.tap.key_rows, count, i);
    result.labels.push_back(index < 0 ? std::to_string(i)
                                      : tokens[static_cast<std::size_t>(index)].label);
  }
  return result;
}

}  // namespace

bool shows_approximation(const AttentionTap& tap) {
  // All methods with feature maps report "state", the sums of key features.
  const Shape &q = tap.shapes().input.q, &k = tap.shapes().input.k;
  const bool fits_tokens = has_extra(tap, "implied") || tap.keys() <= kMaxCompared;
  return (has_extra(tap, "exact") || has_extra(tap, "implied") || has_extra(tap, "state")) &&
         tap.queries() <= kMaxCompared && fits_tokens && !q.empty() && !k.empty() &&
         k[1] <= kMaxCompared && q[1] == tap.queries();
}

bool has_negative(const Tensor& numbers) {
  return std::ranges::any_of(numbers, [](float x) { return x < 0; });
}

Approximation approximation_of(const HeadInput& in) {
  Approximation a{
      softmax_of(in), implied_of(in), {}, mix_of(in), query_axis(in.input.trace, in.tap), {}};
  a.keys = compared_keys(in, a.exact.dim(1));
  if (has_negative(a.implied)) return a;
  a.divergence = cached_numbers(in, CacheKey("divergence from softmax"), [&] {
    const std::vector<double> rows =
        row_divergences(a.exact, a.implied, Divergence::KullbackLeibler);
    Tensor numbers({static_cast<Index>(rows.size())});
    std::ranges::transform(rows, numbers.data(), [](double x) { return static_cast<float>(x); });
    return numbers;
  });
  return a;
}

}  // namespace attnscope
