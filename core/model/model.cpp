#include "core/model/model.h"

#include <set>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/join.h"
#include "core/model/weights.h"

namespace attnscope {

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

std::string cache_refusal(const ModelConfig& config, bool leaves) {
  const Architecture& of = architecture(config.architecture.id);
  if (!of.caches) return of.label + ": earlier tokens are computed anew";
  if (config.segment > 0) return "segments: what is remembered grows by whole segments";
  if (join(config.join.id).run_layers) return join(config.join.id).label + ": no keys are kept";
  const bool by_text = config.exits && exit_rule(config.exits->id).distribution_at == 0;
  if (leaves && by_text && !of.has_encoder) {
    return exit_rule(config.exits->id).label + ": where all tokens leave hangs on all of them";
  }
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      const Encoding& e = encoding(group.encoding.id);
      if (e.follows_length && e.follows_length(group.encoding.values, config.context)) {
        return e.label + ": how earlier tokens are turned changes as the text grows";
      }
      const Variant& v = variant(group.variant.id);
      if (!is_incremental(v, group.variant.values))
        return v.label + ": what a token sees changes as the text grows";
      if (!config.causal && !v.causal_by_definition) {
        return v.label + " without a causal mask: tokens see later ones";
      }
    }
  }
  return {};
}

std::vector<std::string> notes_on_looking_ahead(const Model& model) {
  std::set<std::string> notes;
  const auto& layers = model.config.groups;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (std::size_t group = 0; group < layers[layer].size(); ++group) {
      const Choice& chosen = layers[layer][group].variant;
      const Variant& v = variant(chosen.id);
      if (!v.looks_ahead || !(model.config.causal || v.causal_by_definition)) continue;
      const std::string prefix = group_prefix(static_cast<Index>(layer), static_cast<Index>(group));
      const std::string why = v.looks_ahead(chosen.values, weights_below(model.weights, prefix));
      if (!why.empty()) notes.insert(v.label + " looks ahead: " + why);
    }
  }
  return {notes.begin(), notes.end()};
}

}  // namespace attnscope
