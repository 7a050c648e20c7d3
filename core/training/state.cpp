#include "core/training/state.h"

#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/tensor/safetensors.h"

namespace attnscope {
namespace {

// Settings that must not change when resuming: all but paths and reporting.
Json fixed_settings(const TrainingPlan& plan) {
  Json object = to_json(plan);
  for (const char* key : {"folder", "held_out", "evaluate_every", "score_batches",
                          "save_every_seconds", "snapshot_every", "half"}) {
    object.erase(key);
  }
  return object;
}

std::string state_file(const TrainingPlan& plan) {
  return (plan.folder / "training.safetensors").string();
}

void check_same_plan(const TrainingPlan& plan, const std::string& stored_text) {
  const std::string name = state_file(plan);
  const Json stored = parse_json(stored_text, name), planned = fixed_settings(plan);
  std::set<std::string> keys;
  for (const Json* object : {&planned, &stored}) {
    for (const auto& [key, value] : object->items()) keys.insert(key);
  }
  const auto text = [](const Json* value) {
    return value == nullptr ? std::string("none") : shortened(*value);
  };
  for (const std::string& key : keys) {
    const Json *found = stored.find(key), *value = planned.find(key);
    if (found != nullptr && value != nullptr && *found == *value) continue;
    throw InputError(name + ": belongs to a training with other settings (" + key + " " +
                     text(found) + ", now " + text(value) + "); choose another folder");
  }
}

Index read_count(const SafetensorsFile& file, const std::string& key, const std::string& name) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) throw InputError(name + ": metadata " + key + " is missing");
  const Json member = {{key, parse_json(found->second, name)}};
  JsonObject object(member, name);
  return object.integer(key, 0, std::numeric_limits<Index>::max());
}

// Factors of TrainingControls, by key in the file's metadata.
constexpr std::pair<const char*, double TrainingState::*> kFactors[] = {
    {"rate_factor", &TrainingState::rate_factor},
    {"decay_factor", &TrainingState::decay_factor},
    {"penalty_factor", &TrainingState::penalty_factor}};

}  // namespace

std::optional<TrainingState> load_state(const TrainingPlan& plan) {
  const std::string name = state_file(plan);
  if (!file_exists(name)) return std::nullopt;
  const SafetensorsFile file = read_safetensors(name);
  const auto stored_plan = file.metadata.find("plan");
  if (stored_plan == file.metadata.end()) throw InputError(name + ": metadata plan is missing");
  check_same_plan(plan, stored_plan->second);
  TrainingState state;
  state.step = read_count(file, "step", name);
  state.optimiser_steps = read_count(file, "optimiser_steps", name);
  for (const auto& [key, factor] : kFactors) {
    const auto found = file.metadata.find(key);
    if (found == file.metadata.end()) continue;
    const Json member = {{key, parse_json(found->second, name)}};
    state.*factor = JsonObject(member, name).number_or(key, 1, 0, kMaxFactor);
  }
  for (const auto& [key, tensor] : file.tensors) {
    const auto colon = key.find(':');
    const std::string kind = key.substr(0, colon);
    const std::string weight = colon == std::string::npos ? "" : key.substr(colon + 1);
    if (kind == "weight") {
      state.weights.emplace(weight, Var(tensor.floats()));
    } else if (kind == "first") {
      state.moments[weight].first = tensor.floats();
    } else if (kind == "second") {
      state.moments[weight].second = tensor.floats();
    } else {
      throw InputError(name + ": tensor " + key + " does not belong to a training state");
    }
  }
  const Index stored_count = read_count(file, "moments", name);
  if (static_cast<Index>(state.moments.size()) != stored_count) {
    throw InputError(name + ": expected the moments of " + std::to_string(stored_count) +
                     " weights, found those of " + std::to_string(state.moments.size()));
  }
  for (const auto& [weight, moments] : state.moments) {
    const auto found = state.weights.find(weight);
    if (found == state.weights.end() || moments.first.shape() != found->second.shape() ||
        moments.second.shape() != found->second.shape()) {
      throw InputError(name + ": the moments of " + weight + " do not match its weight");
    }
  }
  return state;
}

TrainingPlan stored_plan(const std::filesystem::path& folder) {
  const std::string name = (folder / "training.safetensors").string();
  const SafetensorsFile file = read_safetensors(name);
  const auto plan = file.metadata.find("plan");
  if (plan == file.metadata.end()) throw InputError(name + ": metadata plan is missing");
  TrainingPlan result = training_plan_from_json(parse_json(plan->second, name), name);
  result.folder = folder;
  return result;
}

void save_state(const TrainingPlan& plan, const TrainingState& state) {
  SafetensorsFile file;
  file.metadata["plan"] = fixed_settings(plan).dump();
  file.metadata["step"] = std::to_string(state.step);
  file.metadata["optimiser_steps"] = std::to_string(state.optimiser_steps);
  for (const auto& [key, factor] : kFactors) {
    if (state.*factor != 1) file.metadata[key] = Json(state.*factor).dump();
  }
  file.metadata["moments"] = std::to_string(state.moments.size());
  for (const auto& [name, weight] : state.weights) {
    file.tensors.emplace("weight:" + name, stored(weight.value()));
  }
  for (const auto& [name, moments] : state.moments) {
    file.tensors.emplace("first:" + name, stored(moments.first));
    file.tensors.emplace("second:" + name, stored(moments.second));
  }
  write_safetensors(state_file(plan), file);
}

}  // namespace attnscope
