#include "core/model/model.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

// Which encoding or variant asked for a weight of the model; empty for those of the blocks.
std::map<std::string, std::string> owners(const ModelConfig& config) {
  std::map<std::string, std::string> result;
  for (const WeightSpec& spec : weight_specs(config)) result[spec.name] = spec.owner;
  return result;
}

// A person's click must not fill the memory with untrained numbers.
void check_size(const WeightSpec& spec, Index numbers) {
  constexpr Index kMostUntrained = Index{1} << 28;
  if (numbers > kMostUntrained) {
    throw InputError(spec.owner + " needs " + to_string(spec.shape) + " numbers for " + spec.name +
                     " and such weights at this context, more than " +
                     std::to_string(kMostUntrained) + " in all");
  }
}

}  // namespace

Model make_model(const ModelConfig& config, std::uint64_t seed) {
  constexpr Index kMostParameters = Index{1} << 33;
  check(config, "model");
  if (parameter_count(config) > kMostParameters) {
    throw InputError("model: " + std::to_string(parameter_count(config)) +
                     " parameters, expected at most " + std::to_string(kMostParameters));
  }
  Model model;
  model.config = config;
  std::uint64_t number = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    ++number;
    if (spec.initial) {
      model.weights.emplace(spec.name, Var(spec.initial(mixed_seed(seed, number))));
    }
  }
  return model;
}

Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal) {
  Model result;
  result.config = model.config;
  result.config.groups = groups;
  result.config.causal = causal;
  check(result.config, "model");
  const auto owner_before = owners(model.config);
  std::uint64_t number = 0;
  Index untrained = 0;  // numbers
  for (const WeightSpec& spec : weight_specs(result.config)) {
    ++number;
    const auto had = model.weights.find(spec.name);
    const auto owner = owner_before.find(spec.name);
    const bool same_owner = owner != owner_before.end() && owner->second == spec.owner;
    if (same_owner && had == model.weights.end()) continue;  // optional, and left out
    if (same_owner && had->second.shape() == spec.shape) {
      result.weights.emplace(*had);
      if (std::ranges::find(model.untrained, spec.name) != model.untrained.end()) {
        result.untrained.push_back(spec.name);
      }
    } else if (spec.initial) {
      untrained += element_count(spec.shape);
      check_size(spec, untrained);
      result.weights.emplace(spec.name, Var(spec.initial(mixed_seed(0, number))));
      result.untrained.push_back(spec.name);
    }
  }
  return result;
}

}  // namespace attnscope
