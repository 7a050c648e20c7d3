#include "core/study/study_point.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/view/session_file.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

// "2-rope-base-500" for value 2 with the label "RoPE, base 500".
std::string file_part(std::size_t index, const std::string& label) {
  constexpr std::size_t kMaxLength = 40;
  std::string name = std::to_string(index) + "-";
  for (const char c : label) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    const bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || is_upper;
    if (is_kept) {
      name += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!name.ends_with('-')) {
      name += '-';
    }
    if (name.size() >= kMaxLength) break;
  }
  while (name.ends_with('-') || name.ends_with('.')) name.pop_back();
  return name;
}

// Training plans of the stages, each of which starts from the model of the one before.
std::vector<TrainingPlan> stage_plans(const Json& train, const Json* stages,
                                      const fs::path& folder) {
  std::vector<TrainingPlan> plans;
  const std::size_t count = stages != nullptr ? stages->size() : 1;
  Json plan = train;
  for (std::size_t n = 0; n < count; ++n) {
    if (stages != nullptr) plan.merge_patch((*stages)[n]);
    if (!plan.is_object()) throw InputError("stages: expected objects, found " + shortened(plan));
    const fs::path place = count == 1 ? folder : folder / ("stage-" + std::to_string(n + 1));
    if (n > 0) plan["from"] = plans.back().folder.string();
    plan["folder"] = place.string();
    plans.push_back(training_plan_from_json(plan, "train"));
    for (auto* files : {&plans.back().text, &plans.back().held_out}) {
      for (fs::path& file : *files) file = study_file(file.string());
    }
    check(plans.back());
  }
  return plans;
}

// Session of a point; `model` replaces its model unless empty.
Session point_session(const Json* patch, const std::string& model) {
  Json session = Json::object();
  if (patch != nullptr) session.merge_patch(*patch);
  session["attnscope"] = 1;
  if (!model.empty()) session["model"] = model;
  return session_from_json(session, "session");
}

}  // namespace

StudyRow StudyPoint::row(const Study& study) const {
  StudyRow row;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const StudyParameter& parameter = study.parameters[i];
    const StudyValue& value = parameter.values[values[i]];
    row.words[parameter.name] = value.label;
    if (!std::isnan(value.number)) row.numbers[parameter.name] = value.number;
  }
  return row;
}

std::vector<StudyPoint> study_points(const Study& study) {
  std::vector<StudyPoint> points(1);
  points.front().spec = study.base;
  for (const StudyParameter& parameter : study.parameters) {
    std::vector<StudyPoint> extended;
    for (const StudyPoint& point : points) {
      for (std::size_t index = 0; index < parameter.values.size(); ++index) {
        const StudyValue& value = parameter.values[index];
        StudyPoint next = point;
        const std::string part = file_part(index, value.label);
        next.values.push_back(index);
        next.id += (next.id.empty() ? "" : "_") + part;
        if (parameter.changes_training())
          next.model_id += (next.model_id.empty() ? "" : "_") + part;
        try {
          for (const auto& [pointer, change] : value.changes)
            next.spec.at_pointer(pointer) = change;
        } catch (const JsonError& e) {
          throw InputError(parameter.name + ": " + value.label + ": " + e.what());
        }
        extended.push_back(std::move(next));
      }
    }
    points = std::move(extended);
  }
  for (StudyPoint& point : points) {
    if (point.model_id.empty()) point.model_id = "model";
  }
  return points;
}

StudyWork work_of(const StudyPoint& point, const fs::path& models) {
  JsonObject object(point.spec, "");
  for (const char* key : {"train", "session"}) {
    if (object.has(key) && !object.any(key).is_object()) object.fail(key, "an object");
  }
  StudyWork work;
  const Json* stages = object.has("stages") ? &object.array("stages") : nullptr;
  if (stages != nullptr && (stages->empty() || !object.has("train"))) {
    object.fail("stages", "a plan \"train\" and at least one stage");
  }
  if (object.has("train")) {
    work.stages = stage_plans(object.any("train"), stages, models / point.model_id);
  }
  const std::string model = work.stages.empty() ? "" : work.stages.back().folder.string();
  work.session = point_session(object.has("session") ? &object.any("session") : nullptr, model);
  const Json& measure = object.any("measure");
  const Json list = measure.is_array() ? measure : Json::array({measure});
  if (list.empty()) object.fail("measure", "at least one measure");
  for (const Json& options : list) {
    const StudyMeasure& chosen = study_measure(options, "measure");
    if (chosen.input == MeasureNeeds::Training && work.stages.empty()) {
      object.fail("measure", "a plan \"train\" for the measure " + chosen.id);
    }
    work.trains |= !work.stages.empty() && chosen.input != MeasureNeeds::Plan;
    if (chosen.input == MeasureNeeds::Plan && work.stages.empty()) {
      object.fail("measure", "a plan \"train\" for the measure " + chosen.id);
    }
    work.measures.push_back(measure_function(options, "measure"));
  }
  object.finish();
  return work;
}

void check_points(const Study& study, std::string_view path) {
  for (const StudyPoint& point : study_points(study)) {
    const auto fail = [&](const std::exception& e) {
      std::string place(path);
      for (std::size_t i = 0; i < point.values.size(); ++i) {
        const StudyParameter& parameter = study.parameters[i];
        place += ": " + parameter.name + " " + parameter.values[point.values[i]].label;
      }
      throw InputError(place + ": " + e.what());
    };
    try {
      work_of(point, "models");
    } catch (const InputError& e) {
      fail(e);
    } catch (const JsonError& e) {
      fail(e);
    }
  }
}

}  // namespace attnscope
