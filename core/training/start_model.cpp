#include "core/training/start_model.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/base/error.h"
#include "core/base/join_words.h"
#include "core/base/near_match.h"
#include "core/checkpoint/model_store.h"
#include "core/figure/plain_text.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

std::map<std::string, std::string> weight_owners(const ModelConfig& config) {
  std::map<std::string, std::string> owners;
  for (const WeightSpec& spec : weight_specs(config)) owners.emplace(spec.name, spec.owner);
  return owners;
}

// Weight of the checkpoint as float32; undefined if it has none of this name.
Tensor stored_weight(const Model& model, const std::string& name) {
  const auto entry = model.weights.find(name);
  if (entry != model.weights.end()) return entry->second.value().copy();
  const auto matrix = model.narrow.find(name);
  return matrix != model.narrow.end() ? matrix->second.to_tensor() : Tensor();
}

bool matches(std::string_view pattern, std::string_view name) {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t begin = star; begin <= name.size(); ++begin) {
    if (matches(rest, name.substr(begin))) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<const Checkpoint> start_checkpoint(const TrainingPlan& plan) {
  auto start = model_store()->checkpoint(plan.from);
  for (const auto& [name, matrix] : start->model.narrow) {
    if (!is_quantised(matrix.dtype)) continue;
    throw InputError("from: expected weights of 16 or 32 bits, found quantised ones in " +
                     start->name + " (" + name + ": " + std::string(to_string(matrix.dtype)) + ")");
  }
  const Index vocabulary = start->model.config.vocabulary;
  if (plan.model.vocabulary != vocabulary) {
    throw InputError("model.vocabulary: expected " + std::to_string(vocabulary) +
                     ", the vocabulary of " + start->name + ", found " +
                     std::to_string(plan.model.vocabulary));
  }
  return start;
}

StartedWeights take_weights(const Checkpoint& start, Model& model) {
  const std::map<std::string, std::string> owners = weight_owners(start.model.config);
  StartedWeights result;
  std::set<std::string> kept;
  for (const WeightSpec& spec : weight_specs(model.config)) {
    const auto owner = owners.find(spec.name);
    Tensor weight;
    if (owner != owners.end() && owner->second == spec.owner) {
      weight = stored_weight(start.model, spec.name);
    }
    if (weight.defined() && weight.shape() == spec.shape) {
      model.weights.insert_or_assign(spec.name, Var(std::move(weight)));
      result.kept.push_back(spec.name);
      kept.insert(spec.name);
    } else if (model.weights.contains(spec.name)) {
      result.initial.push_back(spec.name);
    }
  }
  if (kept.empty()) {
    throw InputError("from: expected a model with weights of the same names and shapes, found " +
                     start.name + ", which has none");
  }
  for (const auto& [name, owner] : owners) {
    const bool is_stored = start.model.weights.contains(name) || start.model.narrow.contains(name);
    if (is_stored && !kept.contains(name)) result.unused.push_back(name);
  }
  return result;
}

std::string weight_groups(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxGroups = 8;
  std::vector<std::string> groups;
  for (const std::string& name : names) {
    std::string group;
    for (const char c : name) {
      const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
      const bool begins_number = group.empty() || group.back() == '.';
      if (is_digit && begins_number) {
        group += '*';
      } else if (!is_digit || group.back() != '*') {
        group += c;
      }
    }
    if (std::ranges::find(groups, group) == groups.end()) groups.push_back(group);
  }
  const std::size_t count = groups.size();
  if (count > kMaxGroups) groups.resize(kMaxGroups);
  return join_words(groups) +
         (count > kMaxGroups ? " and " + std::to_string(count - kMaxGroups) + " more" : "");
}

std::string describe(const StartedWeights& weights, const std::string& start) {
  std::string text = "starts from " + start + ": " +
                     count_text(static_cast<long long>(weights.kept.size()), "weight") + " kept";
  if (!weights.initial.empty()) text += "; initialised: " + weight_groups(weights.initial);
  if (!weights.unused.empty()) text += "; not used: " + weight_groups(weights.unused);
  return text;
}

std::set<std::string> matching_names(const std::vector<std::string>& patterns,
                                     const std::vector<std::string>& names) {
  if (patterns.empty()) return {names.begin(), names.end()};
  std::set<std::string> result;
  for (const std::string& pattern : patterns) {
    bool is_used = false;
    for (const std::string& name : names) {
      if (!matches(pattern, name)) continue;
      result.insert(name);
      is_used = true;
    }
    if (is_used) continue;
    throw InputError(
        "train_only: expected names of trained weights, such as \"layers.0.*\", found \"" +
        pattern + "\"" + suggestion(pattern, names));
  }
  return result;
}

}  // namespace attnscope
