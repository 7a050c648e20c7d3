#include "core/analysis/sinks.h"

#include <cmath>

namespace attnscope {

double sink_weight(const AttentionTap& tap, Index head, Index query) {
  const PartSettings* part = tap.settings();
  const Tensor& sums = tap.result.log_sum_exp;  // [h, L_q]
  if (part == nullptr || !part->sinks.defined() || !sums.defined()) return 0;
  return std::exp(static_cast<double>(part->sinks.value()[head]) -
                  static_cast<double>(sums(head, query)));
}

double sink_weight(const AttentionTap& tap) {
  const PartSettings* part = tap.settings();
  if (part == nullptr || !part->sinks.defined()) return 0;
  double sum = 0;
  const auto heads = static_cast<Index>(tap.heads.size());
  for (Index head = 0; head < heads; ++head) {
    for (Index query = 0; query < tap.queries(); ++query) sum += sink_weight(tap, head, query);
  }
  return sum / static_cast<double>(heads * tap.queries());
}

}  // namespace attnscope
