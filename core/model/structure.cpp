#include "core/model/structure.h"

#include <algorithm>

#include "core/base/random.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/residual_connection.h"
#include "core/model/weight_budget.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr const char* kNone = "none";

// Adds a weight of a fresh model; `weight_number`: index of the weight in the list, from 1.
void add_initial_weight(const WeightSpec& spec, std::uint64_t weight_number,
                        WeightBudget& weight_budget, Model& model) {
  if (!spec.initial || spec.optional) return;
  weight_budget.reserve(spec.owner, spec.name, spec.shape);
  model.weights.emplace(spec.name, Var(spec.initial(derived_seed(0, weight_number))));
  model.untrained.push_back(spec.name);
}

}  // namespace

Choice no_exits() {
  return {kNone, {}};
}

ModelConfig apply_structure(const ModelConfig& config, const Structure& structure) {
  ModelConfig result = config;
  if (structure.architecture && *structure.architecture != config.architecture) {
    result.architecture = *structure.architecture;
    const Architecture& type = attnscope::architecture(result.architecture.id);
    if (type.adapt && result.architecture.id != config.architecture.id) type.adapt(result);
  }
  if (structure.residual_connection) {
    result.residual_connection = *structure.residual_connection;
    const ResidualConnection& join = residual_connection(result.residual_connection.id);
    const bool is_new = result.residual_connection.id != config.residual_connection.id;
    if (join.adapt && is_new) join.adapt(result);
  }
  if (structure.exits) {
    result.exits =
        structure.exits->id == kNone ? std::nullopt : std::optional<Choice>(*structure.exits);
  }
  if (structure.segment) result.segment = *structure.segment;
  return result;
}

Model with_structure(const Model& model, const Structure& structure) {
  Model result;
  result.config = apply_structure(model.config, structure);
  if (result.config == model.config) return model;
  check(result.config, "model");
  std::uint64_t weight_number = 0;
  WeightBudget weight_budget;
  for (const WeightSpec& spec : weight_specs(result.config)) {
    ++weight_number;
    const auto stored = model.weights.find(spec.name);
    const auto narrow_entry = model.narrow.find(spec.name);
    if (stored != model.weights.end() && stored->second.shape() == spec.shape) {
      result.weights.emplace(*stored);
      if (std::ranges::count(model.untrained, spec.name) > 0) result.untrained.push_back(spec.name);
    } else if (narrow_entry != model.narrow.end() &&
               Shape{narrow_entry->second.rows, narrow_entry->second.columns} == spec.shape) {
      result.narrow.emplace(*narrow_entry);
    } else {
      add_initial_weight(spec, weight_number, weight_budget, result);
    }
  }
  std::ranges::sort(result.untrained);
  return result;
}

Structure structure_from_json(JsonObject& object) {
  Structure structure;
  structure.architecture = choice_member(architecture, object, "architecture");
  structure.residual_connection = choice_member(residual_connection, object, "join");
  const bool has_no_exits =
      object.has("exits") && type_of(object.any("exits"), object.path_of("exits")) == kNone;
  structure.exits = has_no_exits ? no_exits() : choice_member(exit_rule, object, "exits");
  if (object.has("segment")) structure.segment = object.integer("segment", 0, kMaxModelTokens);
  return structure;
}

void add_to_json(const Structure& structure, Json& object) {
  if (structure.architecture) object["architecture"] = to_json(*structure.architecture);
  if (structure.residual_connection) object["join"] = to_json(*structure.residual_connection);
  if (structure.exits) object["exits"] = to_json(*structure.exits);
  if (structure.segment) object["segment"] = *structure.segment;
}

}  // namespace attnscope
