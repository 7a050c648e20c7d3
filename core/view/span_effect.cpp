#include "core/view/span_effect.h"

#include "core/attention/single_head.h"
#include "core/attention/span.h"
#include "core/view/focus.h"

namespace attnscope {

Tensor attention_with_span(const Part& part, Index head, double z, double ramp, double most) {
  Part spanned = single_head(part, head);
  spanned.normaliser = Normaliser::SpanSoftmax;
  spanned.span = Tensor::full({1}, static_cast<float>(z));
  spanned.span_ramp = ramp;
  spanned.span_most = most;
  Wanted wanted;
  wanted.output = false;
  wanted.attention = true;
  return cpu_backend().run(spanned, wanted, {}).attention.reshaped({part.queries(), part.keys()});
}

double share_kept(const AttentionTap& tap, Index head, double z, double ramp) {
  const Tensor weights = tap.attention(head);
  double sum = 0;
  Index rows = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    const double at = static_cast<double>(query_position(tap, i));
    double kept = 0, all = 0;
    for (Index c = 0; c < weights.dim(1); ++c) {
      const auto weight = static_cast<double>(weights(i, c));
      if (weight == 0) continue;
      all += weight;
      kept += weight * span_mask(z, ramp, at - static_cast<double>(key_position(tap, head, c)));
    }
    if (!(all > 0)) continue;
    sum += kept / all;
    ++rows;
  }
  return rows > 0 ? sum / static_cast<double>(rows) : 0;
}

double span_of_head(const Part& part, Index head, Index query) {
  const Tensor& z = part.span.value();  // [h] or [h, L_q]
  if (z.rank() == 1) return static_cast<double>(z[head]);
  if (query >= 0) return static_cast<double>(z(head, query));
  double sum = 0;
  for (Index i = 0; i < z.dim(1); ++i) sum += static_cast<double>(z(head, i));
  return sum / static_cast<double>(z.dim(1));
}

}  // namespace attnscope
