#include "core/training/stages.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/json_numbers.h"
#include "core/base/random.h"
#include "core/base/strict_json.h"

namespace attnscope {
namespace {

constexpr Index kMaxStageSteps = Index{1} << 40;
constexpr Index kMaxSequence = Index{1} << 40;
constexpr std::size_t kMaxLengths = 16;
constexpr double kMaxRateFactor = 1000;

void limit_windows(ModelConfig& model, Index window) {
  for (std::vector<HeadGroup>& layer : model.groups) {
    for (HeadGroup& group : layer) {
      Values& values = group.variant.values;
      if (!values.has("window")) continue;
      values.set("window", std::min(values.integer("window"), window));
    }
  }
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// "32" as a number, "32/64" as an array; nullopt for anything else.
std::optional<Json> numbers_from_text(const std::string& text) {
  Json numbers = Json::array();
  std::istringstream stream(text + "/");  // a number before each slash
  for (std::string part; std::getline(stream, part, '/');) {
    const Json number = Json::parse_or_null(trimmed(part));
    if (!number.is_number()) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers.size() == 1 ? numbers[0] : numbers;
}

TrainingStage stage_from_text(const std::string& text, const std::string& path) {
  Json object = Json::object();
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto equals = part.find('=');
    const std::optional<Json> value = numbers_from_text(part.substr(equals + 1));
    if (equals == std::string::npos || !value) {
      throw InputError(path + ": expected KEY=NUMBER between commas, found \"" + trimmed(part) +
                       "\"");
    }
    object[trimmed(part.substr(0, equals))] = *value;
  }
  return stage_from_json(object, path);
}

// Member "sequence": a number (0: none) or a list of up to kMaxLengths numbers.
std::vector<Index> sequences(JsonObject& object) {
  if (!object.has("sequence") || !object.any("sequence").is_array()) {
    const Index sequence = object.integer_or("sequence", 0, 0, kMaxSequence);
    return sequence > 0 ? std::vector<Index>{sequence} : std::vector<Index>{};
  }
  const std::vector<Index> result = whole_numbers(object, "sequence", 1, kMaxSequence);
  if (result.size() > kMaxLengths) {
    object.fail("sequence", "at most " + std::to_string(kMaxLengths) + " numbers");
  }
  return result;
}

}  // namespace

TrainingStage stage_from_json(const Json& value, std::string_view path) {
  JsonObject object(value, path);
  TrainingStage stage;
  stage.steps = object.integer("steps", 1, kMaxStageSteps);
  stage.sequence = sequences(object);
  stage.window = object.integer_or("window", 0, 0, kMaxStageSteps);
  stage.rate = object.number_or("rate", 1, 0, kMaxRateFactor);
  object.finish();
  return stage;
}

Json to_json(const TrainingStage& stage) {
  Json object{{"steps", stage.steps}};
  if (stage.sequence.size() == 1) object["sequence"] = stage.sequence.front();
  if (stage.sequence.size() > 1) object["sequence"] = stage.sequence;
  if (stage.window > 0) object["window"] = stage.window;
  if (stage.rate != 1) object["rate"] = stage.rate;
  return object;
}

std::vector<TrainingStage> stages_from_text(const std::string& text, const std::string& path) {
  std::vector<TrainingStage> stages;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ';');) {
    if (!trimmed(part).empty()) stages.push_back(stage_from_text(part, path));
  }
  return stages;
}

Index step_count(const std::vector<TrainingStage>& stages) {
  Index sum = 0;
  for (const TrainingStage& stage : stages) sum += stage.steps;
  return sum;
}

std::size_t stage_at(const TrainingPlan& plan, Index steps) {
  std::size_t stage = 0;
  for (Index end = plan.stages.front().steps; steps >= end && stage + 1 < plan.stages.size();) {
    end += plan.stages[++stage].steps;
  }
  return stage;
}

TrainingPlan stage_plan(const TrainingPlan& plan, const TrainingStage& stage) {
  TrainingPlan result = plan;
  result.stages.clear();
  if (!stage.sequence.empty()) result.sequence = std::ranges::max(stage.sequence);
  if (stage.window > 0) limit_windows(result.model, stage.window);
  return result;
}

Index sequence_at(const TrainingPlan& plan, Index steps) {
  if (plan.stages.empty()) return sequence_length(plan);
  const std::vector<Index>& lengths = plan.stages[stage_at(plan, steps)].sequence;
  if (lengths.empty()) return sequence_length(plan);
  const std::uint64_t drawn = derived_seed(plan.seed, static_cast<std::uint64_t>(steps));
  return lengths[static_cast<std::size_t>(drawn % lengths.size())];
}

void check_stages(const TrainingPlan& plan) {
  if (plan.stages.empty()) return;
  const Index sum = step_count(plan.stages);
  if (sum != plan.steps) {
    throw InputError("stages: expected " + std::to_string(plan.steps) +
                     " steps in all, as in \"steps\", found " + std::to_string(sum));
  }
  for (std::size_t n = 0; n < plan.stages.size(); ++n) {
    try {
      TrainingPlan planned = stage_plan(plan, plan.stages[n]);
      check(planned);
      for (const Index length : plan.stages[n].sequence) {
        planned.sequence = length;
        check(planned);
      }
    } catch (const InputError& e) {
      throw InputError("stages: stage " + std::to_string(n + 1) + ": " + e.what());
    }
  }
}

}  // namespace attnscope
