#include <algorithm>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/model.h"
#include "core/model/weight_budget.h"
#include "core/model/weights.h"

namespace attnscope {

Model with_context(const Model& model, Index context) {
  Model result = model;
  result.config.context = context;
  check(result.config, "model");
  std::uint64_t weight_number = 0;
  WeightBudget weight_budget;
  for (const WeightSpec& spec : weight_specs(result.config)) {
    ++weight_number;
    const auto stored = result.weights.find(spec.name);
    if (stored == result.weights.end() || stored->second.shape() == spec.shape) continue;
    const bool is_trained = std::ranges::find(model.untrained, spec.name) == model.untrained.end();
    if (is_trained || !spec.initial) {
      throw InputError("overlong: " + spec.name + " (" + spec.owner + ") of this model has shape " +
                       to_string(stored->second.shape()) + " for " +
                       std::to_string(model.config.context) + " positions, found " +
                       std::to_string(context) +
                       " tokens; use the first or last tokens, or another encoding");
    }
    weight_budget.reserve(spec.owner, spec.name, spec.shape);
    stored->second = Var(spec.initial(derived_seed(0, weight_number)));
  }
  return result;
}

}  // namespace attnscope
