#include "core/view/span/span_effect.h"

#include <algorithm>

#include "core/attention/single_head.h"
#include "core/attention/span.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

constexpr double kUnlimited = 1 << 30;  // larger than any distance

bool has_spans(const PartRules& part) {
  return part.normaliser == Normaliser::SpanSoftmax;
}

// Keys up to the query's position and at most `max_distance` before it. Requires ascending
// positions.
Pattern keys_before(const Part& part, double max_distance) {
  const auto max_offset = static_cast<Index>(std::min(max_distance, kUnlimited));
  PatternBuilder builder(1, part.queries(), part.keys(), {"span"});
  for (Index i = 0; i < part.queries(); ++i) {
    const Index query_position = part.pos_q.empty() ? i : part.pos_q[static_cast<std::size_t>(i)];
    const auto first_key_from = [&](Index position) -> Index {
      if (part.pos_k.empty()) return position;
      return std::lower_bound(part.pos_k.begin(), part.pos_k.end(), position) - part.pos_k.begin();
    };
    builder.add(0, first_key_from(query_position - max_offset), first_key_from(query_position + 1));
    builder.next_row();
  }
  return builder.finish();
}

// The head with a softmax over the keys up to `max_distance` in place of its span.
Part without_span(const Part& part, Index head, double max_distance) {
  Part head_part = single_head(part, head);
  if (!has_spans(part)) return head_part;
  head_part.normaliser = Normaliser::Softmax;
  head_part.span = {};
  head_part.pattern = std::make_shared<const Pattern>(keys_before(head_part, max_distance));
  return head_part;
}

Tensor computed_attention(const Part& part) {
  ResultRequest wanted;
  wanted.output = false;
  wanted.attention = true;
  return cpu_backend().run(part, wanted).attention.reshaped({part.queries(), part.keys()});
}

}  // namespace

double HeadSpan::at(Index query) const {
  return static_cast<double>(z.rank() == 1 ? z[0] : z(0, query));
}

double HeadSpan::mask(Index query, double distance) const {
  return distance > max_span ? 0 : span_mask(at(query), ramp, distance);
}

double HeadSpan::mean() const {
  double sum = 0;
  for (const float value : z) sum += static_cast<double>(value);
  return sum / static_cast<double>(z.size());
}

HeadSpan fixed_span(double z, double ramp, double max_span) {
  return {Tensor::full({1}, static_cast<float>(z)), ramp, max_span};
}

HeadSpan head_span(const PartRules& part, Index head) {
  return {part.span.value().slice(head, 1), part.span_ramp, part.max_span};
}

Tensor attention_without_span(const AttentionTap& tap, Index head) {
  if (tap.settings() == nullptr || !has_spans(*tap.settings())) return tap.attention(head);
  return computed_attention(without_span(*tap.part(), head, kUnlimited));
}

Tensor attention_with_span(const AttentionTap& tap, Index head, const HeadSpan& span) {
  Part head_part = without_span(*tap.part(), head, span.max_span);
  head_part.normaliser = Normaliser::SpanSoftmax;
  head_part.span = span.z;
  head_part.span_ramp = span.ramp;
  head_part.max_span = span.max_span;
  return computed_attention(head_part);
}

Tensor weight_by_distance(const AttentionTap& tap, Index head) {
  const Tensor weights = attention_without_span(tap, head);
  const Index keys = weights.dim(1);
  std::vector<double> sum(static_cast<std::size_t>(keys));
  Index rows = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const Index position = query_position(tap, i);
    double total = 0;
    for (Index key = 0; key < keys; ++key) total += static_cast<double>(weights(i, key));
    if (!(total > 0)) continue;
    ++rows;
    for (Index key = 0; key < keys; ++key) {
      const Index distance =
          std::clamp<Index>(position - key_position(tap, head, key), 0, keys - 1);
      sum[static_cast<std::size_t>(distance)] += static_cast<double>(weights(i, key)) / total;
    }
  }
  Tensor mean = Tensor::zeros({keys});
  for (Index d = 0; d < keys && rows > 0; ++d) {
    mean[d] = static_cast<float>(sum[static_cast<std::size_t>(d)] / static_cast<double>(rows));
  }
  return mean;
}

double kept_fraction(const Tensor& by_distance, const HeadSpan& span) {
  double kept = 0;
  for (Index d = 0; d < by_distance.size(); ++d) {
    kept += span.mask(0, static_cast<double>(d)) * static_cast<double>(by_distance[d]);
  }
  return kept;
}

double kept_fraction(const AttentionTap& tap, Index head, const HeadSpan& span) {
  const Tensor weights = attention_without_span(tap, head);
  double sum = 0;
  Index rows = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const Index position = query_position(tap, i);
    double kept = 0, total = 0;
    for (Index key = 0; key < weights.dim(1); ++key) {
      const auto weight = static_cast<double>(weights(i, key));
      const auto distance = static_cast<double>(position - key_position(tap, head, key));
      total += weight;
      kept += weight * span.mask(i, distance);
    }
    if (!(total > 0)) continue;
    sum += kept / total;
    ++rows;
  }
  return rows > 0 ? sum / static_cast<double>(rows) : 0;
}

}  // namespace attnscope
