#include "core/analysis/crossing.h"

#include <limits>

namespace attnscope {

std::vector<Index> strongest_sources(const Tensor& weights) {
  std::vector<Index> strongest;
  for (Index row = 0; row < weights.dim(0); ++row) {
    Index best = -1;
    for (Index key = 0; key < weights.dim(1); ++key) {
      const float best_weight = best < 0 ? 0.0f : weights(row, best);
      if (weights(row, key) > best_weight) best = key;
    }
    strongest.push_back(best);
  }
  return strongest;
}

double crossing(const Tensor& weights, Index rows) {
  const std::vector<Index> strongest = strongest_sources(weights);
  double pairs = 0, crossed = 0;
  for (std::size_t j = 0; j < static_cast<std::size_t>(rows); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (strongest[i] < 0 || strongest[j] < 0 || strongest[i] == strongest[j]) continue;
      ++pairs;
      if (strongest[i] > strongest[j]) ++crossed;
    }
  }
  return pairs > 0 ? crossed / pairs : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace attnscope
