#include "core/study/study.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/base/join_words.h"
#include "core/base/limits.h"
#include "core/base/near_match.h"
#include "core/base/strict_json.h"
#include "core/figure/plain_text.h"
#include "core/study/study_point.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr double kMaxNumber = std::numeric_limits<double>::max();

fs::path studies_folder() {
  return home_folder() / "assets" / "experiments";
}

std::string item_path(const std::string& path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

void check_pointer(const JsonObject& object, std::string_view key, const std::string& pointer) {
  for (const char* part : {"/train", "/stages", "/session", "/measure"}) {
    if (pointer == part || pointer.starts_with(std::string(part) + "/")) return;
  }
  object.fail(key, "a JSON pointer that begins with /train, /stages, /session or /measure");
}

// `pointer`: where the parameter's values are set; empty: each value names its pointers.
StudyValue value_from_json(const Json& value, const std::string& pointer, const std::string& path) {
  StudyValue result;
  if (value.is_number()) result.number = value.get<double>();
  if (!value.is_object()) {
    result.label = value.is_string() ? value.text() : value.dump();
    if (pointer.empty()) {
      throw InputError(path +
                       ": expected {\"label\": .., \"set\": ..}, since the parameter has no " +
                       "\"set\", found " + shortened(value));
    }
    result.changes.emplace_back(pointer, value);
    return result;
  }
  JsonObject object(value, path);
  result.label = object.text("label");
  if (object.has("number")) result.number = object.number("number", -kMaxNumber, kMaxNumber);
  if (object.has("set")) {
    const Json& changes = object.any("set");
    if (!changes.is_object()) object.fail("set", "an object of JSON pointers");
    for (const auto& [key, change] : changes.items()) {
      check_pointer(object, "set", key);
      result.changes.emplace_back(key, change);
    }
  } else if (pointer.empty()) {
    object.fail("set", "an object of JSON pointers");
  } else {
    result.changes.emplace_back(pointer, object.any("value"));
    if (std::isnan(result.number) && object.any("value").is_number()) {
      result.number = object.any("value").get<double>();
    }
  }
  object.finish();
  return result;
}

StudyParameter parameter_from_json(const Json& value, const std::string& path) {
  JsonObject object(value, path);
  StudyParameter parameter;
  parameter.name = object.text("name");
  const std::string pointer = object.text_or("set", "");
  if (!pointer.empty()) check_pointer(object, "set", pointer);
  const Json& values = object.array("values");
  if (values.empty()) object.fail("values", "at least one value");
  std::set<std::string> labels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string place = item_path(object.path_of("values"), i);
    parameter.values.push_back(value_from_json(values[i], pointer, place));
    if (!labels.insert(parameter.values.back().label).second) {
      throw InputError(place + ": expected different labels, found \"" +
                       parameter.values.back().label + "\" twice");
    }
  }
  object.finish();
  return parameter;
}

StudyFigure figure_from_json(const Json& value, const std::string& path) {
  JsonObject object(value, path);
  StudyFigure figure;
  figure.x = object.text_or("x", "");
  figure.y = object.text("y");
  figure.curves = object.text_or("curves", "");
  figure.x_label = object.text_or("x_label", figure.x);
  figure.y_label = object.text_or("y_label", figure.y);
  figure.x_base = object.number_or("x_base", 0, 0, 1000);
  if (figure.x_base > 0 && figure.x_base < 2) object.fail("x_base", "0, or a base of at least 2");
  figure.y_logarithmic = object.flag_or("y_logarithmic", false);
  object.finish();
  return figure;
}

// Checks that labels belong to the parameter that the column names.
StudyAt at_from_json(const Json& value, const std::vector<StudyParameter>& parameters,
                     const std::string& path) {
  if (!value.is_object())
    throw InputError(path + ": expected an object, found " + shortened(value));
  StudyAt at;
  for (const auto& [column, wanted] : value.items()) {
    if (wanted.is_number()) {
      at[column] = wanted.get<double>();
    } else if (wanted.is_string()) {
      at[column] = wanted.text();
    } else {
      throw InputError(path + ": " + column + ": expected a number or a label, found " +
                       shortened(wanted));
    }
    const auto parameter = std::ranges::find(parameters, column, &StudyParameter::name);
    if (parameter == parameters.end()) continue;
    std::vector<std::string> labels;
    for (const StudyValue& known : parameter->values) labels.push_back(known.label);
    const std::string label = wanted.is_string() ? wanted.text() : wanted.dump();
    if (std::ranges::find(labels, label) != labels.end()) continue;
    throw InputError(path + ": " + column + ": expected one of " + join_words(labels) +
                     ", found \"" + label + "\"" + suggestion(label, labels));
  }
  return at;
}

StudyTerm term_from_json(const Json& value, const std::vector<StudyParameter>& parameters,
                         const std::string& path) {
  JsonObject object(value, path);
  StudyTerm term;
  term.label = object.text_or("label", "");
  if (object.has("number")) {
    term.number = object.number("number", -kMaxNumber, kMaxNumber);
    object.finish();
    return term;
  }
  term.value = object.text("value");
  const auto read_at = [&](const char* key, StudyAt& at) {
    if (object.has(key)) at = at_from_json(object.any(key), parameters, object.path_of(key));
  };
  read_at("at", term.at);
  read_at("minus", term.minus);
  read_at("over", term.over);
  term.growth_in = object.text_or("growth_in", "");
  term.take = static_cast<StudyTake>(object.choice_or("take", 0, {"mean", "min", "max"}));
  if (!term.growth_in.empty()) term.take = StudyTake::Growth;
  object.finish();
  return term;
}

StudyComparison comparison_from_json(const Json& value,
                                     const std::vector<StudyParameter>& parameters,
                                     const std::string& path) {
  JsonObject object(value, path);
  StudyComparison comparison;
  comparison.about = object.text_or("about", "");
  comparison.left = term_from_json(object.any("left"), parameters, object.path_of("left"));
  comparison.right = term_from_json(object.any("right"), parameters, object.path_of("right"));
  comparison.relation =
      static_cast<StudyRelation>(object.choice("relation", {"less", "greater", "equal"}));
  comparison.margin = object.number_or("margin", 0, 0, kMaxNumber);
  object.finish();
  return comparison;
}

// The plan of a preset with the changes of `train`.
Json plan_with_preset(const Json& train, const std::string& path) {
  if (!train.is_object() || !train.contains("preset")) return train;
  const Json& preset = train["preset"];
  const std::string name = preset.is_string() ? preset.text() : preset.dump();
  const fs::path file = home_folder() / "assets" / "presets" / (name + ".json");
  if (name.find('/') != std::string::npos || !file_exists(file)) {
    throw InputError(path + ": expected the name of a preset, found " + shortened(preset));
  }
  Json plan = parse_json(read_file(file, limits::kMaxSmallFile), file.string());
  plan.merge_patch(train);
  plan.erase("preset");
  return plan;
}

std::size_t point_count(const std::vector<StudyParameter>& parameters) {
  std::size_t count = 1;
  for (const StudyParameter& parameter : parameters) count *= parameter.values.size();
  return count;
}

}  // namespace

bool StudyParameter::changes_training() const {
  return std::ranges::any_of(values, [](const StudyValue& value) {
    return std::ranges::any_of(value.changes, [](const auto& change) {
      return change.first.starts_with("/train") || change.first.starts_with("/stages");
    });
  });
}

Study study_from_json(const Json& definition, std::string_view path, bool quick) {
  Study study;
  study.definition = definition;
  if (definition.is_object() && definition.contains("quick")) {
    if (!definition["quick"].is_object()) {
      throw InputError(std::string(path) + ": quick: expected an object, found " +
                       shortened(definition["quick"]));
    }
    if (quick) study.definition.merge_patch(definition["quick"]);
    study.definition.erase("quick");
  }
  JsonObject object(study.definition, path);
  study.title = object.text("title");
  study.claim = object.text("claim");
  study.source = object.text("source");
  study.minutes = object.number("minutes", 0, 1e5);
  study.base = object.any("base");
  if (!study.base.is_object()) object.fail("base", "an object");
  if (const Json* train = study.base.find("train")) {
    study.base["train"] = plan_with_preset(*train, object.path_of("base") + ": train: preset");
  }
  const Json& parameters = object.array("vary");
  if (parameters.size() < 1 || parameters.size() > 2) object.fail("vary", "one or two parameters");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    study.parameters.push_back(
        parameter_from_json(parameters[i], item_path(object.path_of("vary"), i)));
  }
  if (study.parameters.front().name == study.parameters.back().name && parameters.size() == 2) {
    object.fail("vary", "parameters with different names");
  }
  if (point_count(study.parameters) > kMaxStudyPoints) {
    object.fail("vary", "at most " + std::to_string(kMaxStudyPoints) + " points");
  }
  study.figure = figure_from_json(object.any("figure"), object.path_of("figure"));
  if (object.has("compare")) {
    const Json& comparisons = object.array("compare");
    if (!comparisons.empty() && !comparisons[0].contains("about")) {
      object.fail("compare", "the member \"about\" in the first comparison");
    }
    for (std::size_t i = 0; i < comparisons.size(); ++i) {
      study.comparisons.push_back(comparison_from_json(comparisons[i], study.parameters,
                                                       item_path(object.path_of("compare"), i)));
    }
  }
  object.finish();
  return study;
}

Study read_study(const fs::path& file, bool quick) {
  const std::string name = file.string();
  Study study =
      study_from_json(parse_json(read_file(file, limits::kMaxSmallFile), name), name, quick);
  study.id = file.stem().string();
  return study;
}

Study load_study(const fs::path& file, bool quick) {
  Study study = read_study(file, quick);
  check_points(study, file.string());
  return study;
}

std::vector<std::string> bundled_studies() {
  std::vector<std::string> ids;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(studies_folder(), failed)) {
    if (entry.path().extension() == ".json") ids.push_back(entry.path().stem().string());
  }
  std::ranges::sort(ids);
  return ids;
}

fs::path bundled_study_file(const std::string& id) {
  return studies_folder() / (id + ".json");
}

Study find_study(const std::string& id_or_file, bool quick) {
  const std::vector<std::string> ids = bundled_studies();
  if (std::ranges::find(ids, id_or_file) != ids.end()) {
    return load_study(bundled_study_file(id_or_file), quick);
  }
  if (file_exists(id_or_file)) return load_study(id_or_file, quick);
  throw InputError("experiment: expected a file or one of " + join_words(ids) + ", found \"" +
                   plain_text(id_or_file) + "\"" + suggestion(id_or_file, ids));
}

fs::path study_file(const std::string& name) {
  return name.starts_with("assets/") ? home_folder() / name : fs::path(name);
}

}  // namespace attnscope
