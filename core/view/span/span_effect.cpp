#include "core/view/span/span_effect.h"

#include <algorithm>

#include "core/attention/single_head.h"
#include "core/attention/span.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

constexpr double kFarthest = 1 << 30;  // beyond any position

bool has_spans(const Part& part) {
  return part.normaliser == Normaliser::SpanSoftmax;
}

// Keys up to the query's position, at most `most` before it, instead of the pattern of the span.
// Positions are ascending.
Pattern keys_before(const Part& one, double most) {
  const auto farthest = static_cast<Index>(std::min(most, kFarthest));
  PatternBuilder rows(1, one.queries(), one.keys(), {"span"});
  for (Index i = 0; i < one.queries(); ++i) {
    const Index at = one.pos_q.empty() ? i : one.pos_q[static_cast<std::size_t>(i)];
    const auto first_from = [&](Index position) -> Index {
      if (one.pos_k.empty()) return position;
      return std::lower_bound(one.pos_k.begin(), one.pos_k.end(), position) - one.pos_k.begin();
    };
    rows.add(0, first_from(at - farthest), first_from(at + 1));
    rows.next_row();
  }
  return rows.finish();
}

// The head with a plain softmax instead of its span, over keys up to this distance.
Part without_span(const Part& part, Index head, double most) {
  Part one = single_head(part, head);
  if (!has_spans(part)) return one;
  one.normaliser = Normaliser::Softmax;
  one.span = {};
  one.pattern = std::make_shared<const Pattern>(keys_before(one, most));
  return one;
}

Tensor attention_of(const Part& one) {
  Wanted wanted;
  wanted.output = false;
  wanted.attention = true;
  return cpu_backend().run(one, wanted).attention.reshaped({one.queries(), one.keys()});
}

double mask(const HeadSpan& span, double z, double distance) {
  return distance > span.most ? 0 : span_mask(z, span.ramp, distance);
}

}  // namespace

double HeadSpan::at(Index query) const {
  return static_cast<double>(z.rank() == 1 ? z[0] : z(0, query));
}

double HeadSpan::mean() const {
  double sum = 0;
  for (const float each : z) sum += static_cast<double>(each);
  return sum / static_cast<double>(z.size());
}

HeadSpan fixed_span(double z, double ramp, double most) {
  return {Tensor::full({1}, static_cast<float>(z)), ramp, most};
}

HeadSpan head_span(const Part& part, Index head) {
  return {part.span.value().slice(head, 1), part.span_ramp, part.max_span};
}

Tensor attention_without_span(const AttentionTap& tap, Index head) {
  const Part* part = tap.result.part.get();
  if (part == nullptr || !has_spans(*part)) return tap.attention(head);
  return attention_of(without_span(*part, head, kFarthest));
}

Tensor attention_with_span(const AttentionTap& tap, Index head, const HeadSpan& span) {
  Part one = without_span(*tap.result.part, head, span.most);
  one.normaliser = Normaliser::SpanSoftmax;
  one.span = span.z;
  one.span_ramp = span.ramp;
  one.max_span = span.most;
  return attention_of(one);
}

Tensor weight_by_distance(const AttentionTap& tap, Index head) {
  const Tensor weights = attention_without_span(tap, head);
  const Index keys = weights.dim(1);
  std::vector<double> sum(static_cast<std::size_t>(keys));
  Index rows = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const Index at = query_position(tap, i);
    double total = 0;
    for (Index c = 0; c < keys; ++c) total += static_cast<double>(weights(i, c));
    if (!(total > 0)) continue;
    ++rows;
    for (Index c = 0; c < keys; ++c) {
      const Index distance = std::clamp<Index>(at - key_position(tap, head, c), 0, keys - 1);
      sum[static_cast<std::size_t>(distance)] += static_cast<double>(weights(i, c)) / total;
    }
  }
  Tensor mean = Tensor::zeros({keys});
  for (Index d = 0; d < keys && rows > 0; ++d) {
    mean[d] = static_cast<float>(sum[static_cast<std::size_t>(d)] / static_cast<double>(rows));
  }
  return mean;
}

double share_kept(const Tensor& by_distance, const HeadSpan& span) {
  double kept = 0;
  for (Index d = 0; d < by_distance.size(); ++d) {
    kept += mask(span, span.at(0), static_cast<double>(d)) * static_cast<double>(by_distance[d]);
  }
  return kept;
}

double share_kept(const AttentionTap& tap, Index head, const HeadSpan& span) {
  const Tensor weights = attention_without_span(tap, head);
  double sum = 0;
  Index rows = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const Index at = query_position(tap, i);
    double kept = 0, total = 0;
    for (Index c = 0; c < weights.dim(1); ++c) {
      const auto weight = static_cast<double>(weights(i, c));
      const auto distance = static_cast<double>(at - key_position(tap, head, c));
      total += weight;
      kept += weight * mask(span, span.at(i), distance);
    }
    if (!(total > 0)) continue;
    sum += kept / total;
    ++rows;
  }
  return rows > 0 ? sum / static_cast<double>(rows) : 0;
}

}  // namespace attnscope
