#include "core/training/weight_growth.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/base/parallel.h"
#include "core/figure/plain_text.h"
#include "core/training/optimiser.h"

namespace attnscope {
namespace {

constexpr double kMinSize = 0.01;  // compares weights that start at zero with this size

double root_mean_square(const Tensor& values) {
  const auto size = static_cast<double>(values.size());
  return size == 0 ? 0 : std::sqrt(squared_norm(values.data(), values.size()) / size);
}

}  // namespace

void WeightGrowth::measure(const NamedVars& weights, Index step) {
  const bool is_first = step_ < 0;
  step_ = step;
  std::vector<std::pair<Size*, const Tensor*>> measured;
  for (const auto& [name, weight] : weights) measured.emplace_back(&sizes_[name], &weight.value());
  parallel_for(static_cast<Index>(measured.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto& [size, weight] = measured[static_cast<std::size_t>(i)];
      size->newest = root_mean_square(*weight);
    }
  });
  for (auto& [name, size] : sizes_) {
    if (is_first) size.first = std::max(kMinSize, size.newest);
    if (size.limit_step >= 0 || size.newest <= kLimit * size.first) continue;
    size.limit_step = step;
    size.limit_ratio = size.newest / size.first;
  }
}

std::string WeightGrowth::first_grown() const {
  const std::pair<const std::string, Size>* first = nullptr;
  // Earlier, or in the same step larger.
  const auto precedes = [](const Size& a, const Size& b) {
    if ((a.limit_step >= 0) != (b.limit_step >= 0)) return a.limit_step >= 0;
    if (a.limit_step != b.limit_step) return a.limit_step < b.limit_step;
    if (a.limit_step >= 0) return a.limit_ratio > b.limit_ratio;
    return a.newest / a.first > b.newest / b.first;
  };
  for (const auto& entry : sizes_) {
    if (first == nullptr || precedes(entry.second, first->second)) first = &entry;
  }
  if (first == nullptr) return "";
  const Size& size = first->second;
  const bool has_exceeded = size.limit_step >= 0;
  return first->first + ", " +
         brief(has_exceeded ? size.limit_ratio : size.newest / size.first, 3) +
         " times its first size at step " + std::to_string(has_exceeded ? size.limit_step : step_);
}

}  // namespace attnscope
