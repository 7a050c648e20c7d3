#include "core/model/model.h"

#include <set>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"

namespace attnscope {

Model make_model(const ModelConfig& config, std::uint64_t seed) {
  constexpr Index kMaxParameters = Index{1} << 33;
  check(config, "model");
  if (parameter_count(config) > kMaxParameters) {
    throw InputError("model: " + std::to_string(parameter_count(config)) +
                     " parameters, expected at most " + std::to_string(kMaxParameters));
  }
  Model model;
  model.config = config;
  std::uint64_t weight_number = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    ++weight_number;
    if (spec.initial) {
      model.weights.emplace(spec.name, Var(spec.initial(derived_seed(seed, weight_number))));
    }
  }
  return model;
}

std::string cache_refusal(const ModelConfig& config, bool exits_early) {
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  if (!architecture.can_cache) return architecture.label + ": earlier tokens are recomputed";
  if (config.segment > 0) return "segments: memory grows by whole segments";
  if (residual_connection(config.residual_connection.id).run_layers)
    return residual_connection(config.residual_connection.id).label + ": keys are not stored";
  const bool has_common_exit = config.exits && exit_rule(config.exits->id).distribution_at == 0;
  if (exits_early && has_common_exit && !architecture.has_encoder) {
    return exit_rule(config.exits->id).label + ": the common exit layer depends on all tokens";
  }
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      const Encoding& e = encoding(group.encoding.id);
      if (e.depends_on_length && e.depends_on_length(group.encoding.values, config.context)) {
        return e.label + ": the rotation of earlier tokens changes as the text grows";
      }
      const Variant& v = variant(group.variant.id);
      if (!v.causality.incremental(group.variant.values))
        return v.label + ": the next token needs more than the keys and values of earlier ones";
      if (!config.causal && !v.causality.by_definition) {
        return v.label + " without a causal mask: tokens attend to later ones";
      }
    }
  }
  return {};
}

std::vector<std::string> future_leak_notes(const Model& model) {
  std::set<std::string> notes;
  const auto& layers = model.config.groups;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t group = 0; group < layers[layer].size(); ++group) {
      const Choice& choice = layers[layer][group].variant;
      const Variant& v = variant(choice.id);
      if (!v.causality.leaks_future || !(model.config.causal || v.causality.by_definition))
        continue;
      const std::string prefix = group_prefix(static_cast<Index>(layer), static_cast<Index>(group));
      const std::string reason =
          v.causality.leaks_future(choice.values, group_weights(model.weights, choice, prefix));
      if (!reason.empty()) notes.insert(v.label + " leaks future tokens: " + reason);
    }
  }
  return {notes.begin(), notes.end()};
}

}  // namespace attnscope
