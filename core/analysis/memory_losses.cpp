#include "core/analysis/memory_losses.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/trace/tap_names.h"

namespace attnscope {
namespace {

// Weight of a loss in the variant of the layer's first head group that has it; 0 if there is none.
double loss_weight(const Trace& trace, const Address& address, const std::string& name) {
  for (const AttentionTap& tap : trace.attention) {
    const Values& values = tap.variant.values;
    if (tap.address.layer == address.layer && tap.address.group == address.group &&
        values.has(name)) {
      return values.real(name);
    }
  }
  return 0;
}

}  // namespace

double MemoryLoss::mean(Index layer) const {
  double sum = 0;
  Index count = 0;
  for (Index segment = 0; segment < values.dim(1); ++segment) {
    const auto value = static_cast<double>(values(layer, segment));
    if (value == 0) continue;  // nothing was compressed
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : NAN;
}

std::vector<MemoryLoss> memory_losses(const Trace& trace) {
  std::map<std::string, MemoryLoss> losses;
  const std::string prefix = kLayerLoss;
  Index layers = 0;
  for (const AttentionTap& tap : trace.attention) layers = std::max(layers, tap.address.layer + 1);
  for (const Located<Tensor>& tap : trace.located) {
    if (!tap.name.starts_with(prefix)) continue;
    const std::string name = tap.name.substr(prefix.size());
    MemoryLoss& loss = losses[name];
    if (!loss.values.defined()) {
      loss.name = name;
      loss.weight = loss_weight(trace, tap.address, name);
      loss.values = Tensor::full({layers, tap.values.dim(0)}, NAN);
    }
    for (Index segment = 0; segment < tap.values.dim(0); ++segment) {
      float& sum = loss.values(tap.address.layer, segment);
      sum = (std::isnan(sum) ? 0 : sum) + tap.values(segment, Index{0});
    }
  }
  std::vector<MemoryLoss> result;
  for (auto& [name, loss] : losses) result.push_back(std::move(loss));
  return result;
}

}  // namespace attnscope
