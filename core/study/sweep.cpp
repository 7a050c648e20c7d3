#include "core/study/sweep.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/base/find_by_id.h"
#include "core/experiment/effective_model.h"
#include "core/experiment/partial_choice.h"
#include "core/lesson/claim.h"
#include "core/model/exits.h"
#include "core/model/retrieval_json.h"
#include "core/position/encoding.h"
#include "core/study/study_point.h"
#include "core/view/session_file.h"

namespace attnscope {
namespace {

bool can_vary(const Parameter& parameter) {
  using Kind = Parameter::Kind;
  return parameter.kind == Kind::Integer || parameter.kind == Kind::Real ||
         parameter.kind == Kind::Choice || parameter.kind == Kind::Flag;
}

bool contains_or_all(const std::vector<Index>& numbers, Index number) {
  return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
}

void add_parameters(std::vector<SweepParameter>& list, const std::string& part, const Info& info,
                    const std::string& pointer, const Values& values, const Json& choice) {
  for (const Parameter& parameter : info.parameters) {
    if (!can_vary(parameter)) continue;
    SweepParameter entry{part + "." + parameter.key, info.label, parameter, {}, pointer, choice};
    if (values.has(parameter.key)) entry.value = values.all().find(parameter.key)->second;
    list.push_back(std::move(entry));
  }
}

// Pointer to the choice that the view's head follows; empty if the model's heads differ and the
// session overrides none of them.
std::string pointer_of_choice(const Session& session,
                              const std::vector<std::vector<HeadGroup>>& all,
                              std::optional<Choice> GroupChoice::*in_group, bool is_overridden,
                              Choice HeadGroup::*in_head, const std::string& key) {
  const RunSpec& run = session.run;
  for (std::size_t n = run.groups.size(); n-- > 0;) {
    const GroupChoice& group = run.groups[n];
    if (group.*in_group && contains_or_all(group.layers, session.view.layer) &&
        contains_or_all(group.heads, session.view.head)) {
      return "/session/groups/" + std::to_string(n) + "/" + key;
    }
  }
  if (is_overridden) return "/session/" + key;
  const Choice& first = all.front().front().*in_head;
  for (const auto& layer : all) {
    for (const HeadGroup& group : layer) {
      if (group.*in_head != first) return "";
    }
  }
  return "/session/" + key;
}

const HeadGroup* group_of_head(const std::vector<std::vector<HeadGroup>>& groups,
                               const ViewSettings& view) {
  if (view.layer < 0 || view.layer >= static_cast<Index>(groups.size())) return nullptr;
  Index first = 0;
  for (const HeadGroup& group : groups[static_cast<std::size_t>(view.layer)]) {
    first += group.heads;
    if (view.head < first) return &group;
  }
  return nullptr;
}

void add_attention_parameters(std::vector<SweepParameter>& list, Session session,
                              const ModelConfig& stored) {
  fill_unset_parameters(session.run);
  const auto groups = effective_groups(stored, session.run);
  const HeadGroup* group = group_of_head(groups, session.view);
  if (group == nullptr) return;
  const std::string of_variant =
      pointer_of_choice(session, groups, &GroupChoice::variant, session.run.variant.has_value(),
                        &HeadGroup::variant, "variant");
  if (!of_variant.empty()) {
    add_parameters(list, "variant", variant(group->variant.id), of_variant, group->variant.values,
                   attnscope::to_json(group->variant));
  }
  const std::string of_encoding =
      pointer_of_choice(session, groups, &GroupChoice::encoding, session.run.encoding.has_value(),
                        &HeadGroup::encoding, "position");
  if (!of_encoding.empty()) {
    add_parameters(list, "position", encoding(group->encoding.id), of_encoding,
                   group->encoding.values, attnscope::to_json(group->encoding));
  }
}

void add_exit_parameters(std::vector<SweepParameter>& list, const RunSpec& run,
                         const ModelConfig& stored) {
  const std::optional<Choice>& exits = run.structure.exits ? run.structure.exits : stored.exits;
  if (!exits || *exits == no_exits()) return;
  const ExitRule& rule = exit_rule(exits->id);
  Parameter threshold{.key = "exit",
                      .label = "Confidence threshold",
                      .help = "Tokens leave at the first layer with this confidence.",
                      .kind = Parameter::Kind::Real,
                      .optional = true,
                      .initial = 0.9,
                      .limits = {.min = 0, .max = 1},
                      .slider = {.min = 0, .max = 1}};
  SweepParameter entry{"exits.threshold", rule.label, threshold, {}, "/session", {}};
  if (run.exit) entry.value = *run.exit;
  list.push_back(std::move(entry));
  add_parameters(list, "exits", rule, "/session/exits", exits->values, attnscope::to_json(*exits));
}

// Layers and heads of a model that is trained for each value.
void add_model_parameters(std::vector<SweepParameter>& list, const ModelConfig& stored) {
  const auto add = [&](const char* key, const char* label, Index value) {
    Parameter parameter{.key = key, .label = label, .limits = {.min = 1, .max = 1024}};
    list.push_back({std::string("model.") + key, "Model", parameter, value, "/train/model", {}});
  };
  add("layers", "Layers", stored.layers);
  add("heads", "Heads", stored.heads);
}

std::string joined_values(const std::set<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : ", ") + to_text(Value(value));
  return text;
}

std::string joined_values(const std::set<Index>& values) {
  std::string text;
  for (const Index value : values) text += (text.empty() ? "" : ", ") + to_text(Value(value));
  return text;
}

std::string default_reals(const Parameter& parameter, double current) {
  constexpr int kCount = 5;
  std::set<double> values;
  const SliderRange& slider = parameter.slider;
  if (slider.max > slider.min && !slider.logarithmic) {
    for (int n = 0; n < kCount; ++n) {
      values.insert(slider.min + (slider.max - slider.min) * n / (kCount - 1));
    }
    if (parameter.limits.min_excluded) values.erase(parameter.limits.min);
  } else {
    for (const double factor : {0.25, 0.5, 1.0, 2.0, 4.0}) {
      const double value = current * factor;
      if (value >= parameter.limits.min && value <= parameter.limits.max) values.insert(value);
    }
  }
  values.insert(current);
  return joined_values(values);
}

std::string default_integers(const Parameter& parameter, Index current) {
  std::set<Index> values{current};
  const auto min = static_cast<Index>(std::ceil(parameter.limits.min));
  const auto max = static_cast<Index>(std::min(parameter.limits.max, 1e9));
  for (const Index value : {current / 4, current / 2, current * 2, current * 4}) {
    values.insert(std::clamp(value, min, max));
  }
  if (values.size() < 3 && current + 1 <= max) values.insert(current + 1);
  if (current != 0 && min <= 0) values.erase(0);  // 0 often switches a mechanism off
  return joined_values(values);
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == ',') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) {
    const std::size_t first = part.find_first_not_of(" \t"), last = part.find_last_not_of(" \t");
    part = first == std::string::npos ? "" : part.substr(first, last - first + 1);
  }
  std::erase(parts, "");
  return parts;
}

Json swept_values(const Sweep& sweep) {
  const SweepParameter& swept = sweep.parameter;
  Json values = Json::array();
  for (const std::string& part : comma_separated(sweep.values)) {
    const Value value = value_from_text(swept.parameter, part, "values");
    if (swept.parameter.kind == Parameter::Kind::Choice) {
      values.push_back(Json(Json::Object{{"label", choice_label(swept.parameter, to_text(value))},
                                         {"value", attnscope::to_json(value)}}));
    } else {
      values.push_back(attnscope::to_json(value));
    }
  }
  if (values.empty()) throw InputError("values: expected at least one value, found none");
  return values;
}

Json options_of(const Sweep& sweep) {
  constexpr std::string_view trace = "trace.";
  if (sweep.measure.starts_with(trace)) {
    return Json::Object{{"type", "trace"},
                        {"measures", Json::array({sweep.measure.substr(trace.size())})}};
  }
  Json::Object options{{"type", sweep.measure}};
  if (find_by_id(sweep_measures(), sweep.measure, "measure").reads_text) {
    options["files"] = Json::array({sweep.text_file});
  }
  if (sweep.measure == "lengths") options["lengths"] = Json::array({32, 64, 128, 256, 512});
  return options;
}

Json figure_of(const Sweep& sweep, const std::string& name, const Json& values) {
  std::string y_label = sweep.column;
  std::ranges::replace(y_label, '_', ' ');
  Json::Object figure{{"y", sweep.column}, {"y_label", y_label}};
  if (sweep.measure == "lengths") {
    figure["x"] = "length";
    figure["x_label"] = "window length (tokens)";
    figure["x_base"] = 2;
    figure["curves"] = name;
    return figure;
  }
  double min = std::numeric_limits<double>::infinity(), max = -min;
  for (const Json& value : values) {
    if (!value.is_number()) return figure;
    min = std::min(min, value.get<double>());
    max = std::max(max, value.get<double>());
  }
  constexpr double kLogarithmicRatio = 8;
  figure["x"] = name;
  if (min > 0 && max >= kLogarithmicRatio * min) figure["x_base"] = 2;
  return figure;
}

}  // namespace

std::string SweepParameter::label() const {
  return group + ": " + parameter.label;
}

std::string SweepParameter::pointer() const {
  return choice_pointer + "/" + parameter.key;
}

std::vector<SweepParameter> sweep_parameters(const Session& session, const ModelConfig& stored,
                                             bool has_plan) {
  std::vector<SweepParameter> list;
  add_attention_parameters(list, session, stored);
  add_exit_parameters(list, session.run, stored);
  if (const std::optional<RetrievalChoice>& retrieval = session.run.retrieval) {
    const Choice& head = retrieval->retrieval_head;
    add_parameters(list, "retrieval", retrieval_head(head.id), "/session/retrieval", head.values,
                   attnscope::to_json(*retrieval));
  }
  if (has_plan) add_model_parameters(list, stored);
  return list;
}

std::string default_sweep_values(const SweepParameter& swept) {
  const Parameter& parameter = swept.parameter;
  const Value value = swept.value.value_or(parameter.initial);
  switch (parameter.kind) {
    case Parameter::Kind::Integer:
      return default_integers(parameter, std::get<Index>(value));
    case Parameter::Kind::Real:
      return default_reals(parameter, std::get<double>(value));
    case Parameter::Kind::Choice: {
      std::string text;
      for (const std::string& id : choice_ids(parameter)) text += (text.empty() ? "" : ", ") + id;
      return text;
    }
    case Parameter::Kind::Flag:
      return "false, true";
    default:
      return "";
  }
}

std::vector<SweepMeasure> sweep_measures() {
  std::vector<SweepMeasure> list{
      {"text", "predictions of a text", {"bits_per_byte", "loss", "accuracy", "layers"}, true},
      {"lengths", "predictions of a text by window length", {"bits_per_byte", "loss"}, true},
      {"pairs",
       "allowed pairs and products of the run",
       {"pairs", "products", "products_share", "attention_bytes"}},
      {"heads", "means over all heads", {"entropy", "distance", "previous_token", "induction"}},
  };
  for (const Measure& measure : measures()) {
    if (measure.requires_query || measure.requires_key || measure.compares) continue;
    list.push_back({"trace." + measure.id, measure.help, {measure.id}});
  }
  return list;
}

Json sweep_definition(const Sweep& sweep) {
  const SweepParameter& swept = sweep.parameter;
  Session session = sweep.session;
  session.b.reset();
  Json of_session = attnscope::to_json(session);
  of_session.erase("attnscope");
  Json base = Json::Object{{"session", of_session}, {"measure", options_of(sweep)}};
  if (!sweep.plan.is_null()) {
    base["train"] = sweep.plan;
    base["train"].erase("folder");
    Json& model = base["train"]["model"];
    if (model.contains("kv_heads") && model["kv_heads"] == model["heads"]) {
      for (const char* derived : {"kv_heads", "head_size"}) model.erase(derived);
    }
    base["session"].erase("model");
  }
  if (!swept.choice.is_null()) base.at_pointer(swept.choice_pointer) = swept.choice;
  const Json values = swept_values(sweep);
  const std::string& name = swept.parameter.label;
  Json definition = Json::Object{
      {"title",
       swept.label() + ", model " + std::filesystem::path(session.run.model).filename().string()},
      {"claim", ""},
      {"source", "a sweep of a session"},
      {"minutes", 0},
      {"base", base},
      {"vary",
       Json::array({Json::Object{{"name", name}, {"set", swept.pointer()}, {"values", values}}})},
      {"figure", figure_of(sweep, name, values)},
  };
  check_points(study_from_json(definition, "sweep"), "sweep");
  return definition;
}

}  // namespace attnscope
