#include "app/window/panels/parameter_panel.h"

#include <algorithm>

#include "app/window/widgets/parameter_edit.h"
#include "app/window/widgets/text_field.h"

namespace attnscope::window {
namespace {

constexpr std::size_t kMaxSegments = 3;
constexpr double kNumberWidth = 84, kResetWidth = 22, kUnsetWidth = 96;  // units
constexpr double kStripSlider = 84, kStripNumber = 52;                   // units

bool is_number(const Parameter& p) {
  return p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
}

// Call before drawing a parameter's field: focuses it if a click just set the parameter.
void focus_if_requested(Ui& ui, const std::string& id, ParameterWidgets& widgets) {
  if (widgets.focused_id != id) return;
  focus_next_field(ui);
  widgets.focused_id.clear();
}

// Button that replaces the field of an unset optional parameter. A click sets the parameter and
// focuses its field. True when clicked.
bool draw_unset(Ui& ui, const Parameter& p, Values& values, const std::string& id, float width,
                ParameterWidgets& widgets) {
  const bool clicked = button(ui, p.unset_label.c_str(), id, false, width);
  hint(ui, p.help + " Click to set a value.");
  if (!clicked) return false;
  values = with_initial(p, values);
  if (p.kind != Parameter::Kind::Choice && p.kind != Parameter::Kind::Flag) widgets.focused_id = id;
  return true;
}

// Label with symbol and tooltip.
void draw_label(Ui& ui, const Parameter& p) {
  ImGui::BeginGroup();
  ImGui::TextUnformatted(p.label.c_str());
  if (!p.symbol.empty() && p.symbol != p.key) {
    ImGui::SameLine();
    ImGui::TextDisabled("%s", p.symbol.c_str());
  }
  ImGui::EndGroup();
  hint(ui, p.help);
}

// Reset button at the right end of the label's line. True when clicked.
bool draw_reset(Ui& ui, const Parameter& p, const Values& values, const std::string& id) {
  if (is_initial(p, values)) return false;
  ImGui::SameLine(ImGui::GetContentRegionMax().x - ui.px(kResetWidth));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(2), ui.px(2)});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_Button, ImVec4(0, 0, 0, 0));
  const bool clicked = ImGui::Button("↺", {ui.px(kResetWidth), 0});
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  mark(ui, id + ".reset");
  const std::string initial = to_text(p.initial);
  hint(ui, "Reset to " + (p.optional ? p.unset_label : choice_label(p, initial)));
  return clicked;
}

bool draw_number(Ui& ui, const Parameter& p, Values& values, const std::string& id, double width,
                 ParameterWidgets& widgets) {
  focus_if_requested(ui, id, widgets);
  ImGui::SetNextItemWidth(ui.px(width));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
  const std::string field = id + ".number";
  bool changed = false;
  if (p.kind == Parameter::Kind::Integer) {
    Index value = values.integer(p.key);
    changed = number_field(ui, value, field.c_str(), NumberUpdate::WhenComplete);
    if (changed) values.set(p.key, clamped(p, value));
  } else {
    double value = values.real(p.key);
    changed = number_field(ui, value, number_format(p).c_str(), field.c_str(),
                           NumberUpdate::WhenComplete);
    if (changed) values.set(p.key, clamped(p, value));
  }
  ImGui::PopStyleVar();
  hint(ui, p.help + " Click to type: " + expected_text(p) + ".");
  return changed;
}

// Draws a slider without a number, which the knob would hide. A field beside it shows the number.
bool draw_slider(const Parameter& p, Values& values) {
  ImGuiSliderFlags flags = ImGuiSliderFlags_NoInput;
  if (p.slider.logarithmic) flags |= ImGuiSliderFlags_Logarithmic;
  ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(0, 0, 0, 0));
  bool changed = false;
  if (p.kind == Parameter::Kind::Integer) {
    ImS64 value = values.integer(p.key);
    const auto min = static_cast<ImS64>(p.slider.min), max = static_cast<ImS64>(p.slider.max);
    changed = ImGui::SliderScalar("##slider", ImGuiDataType_S64, &value, &min, &max, "%lld", flags);
    if (changed) values.set(p.key, clamped(p, static_cast<Index>(value)));
  } else {
    double value = values.real(p.key);
    changed = ImGui::SliderScalar("##slider", ImGuiDataType_Double, &value, &p.slider.min,
                                  &p.slider.max, number_format(p).c_str(), flags);
    if (changed) values.set(p.key, clamped(p, value));
  }
  ImGui::PopStyleColor();
  return changed;
}

bool draw_thin_slider(Ui& ui, const Parameter& p, Values& values) {
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(2), 0});
  ImGui::PushStyleVar(ImGuiStyleVar_FrameRounding, ui.px(6));
  ImGui::PushStyleVar(ImGuiStyleVar_GrabRounding, ui.px(6));
  ImGui::PushFont(ui.fonts.tiny);
  const bool changed = draw_slider(p, values);
  ImGui::PopFont();
  ImGui::PopStyleVar(3);
  return changed;
}

// Reason why a choice is not compatible with the other values; empty if compatible.
std::string choice_refusal(const Parameter& p, const Values& values, const std::string& choice,
                           const ValuesRefusal& refusal) {
  if (!refusal) return "";
  Values next = values;
  next.set(p.key, choice);
  const std::string reason = refusal(next);
  return reason.empty() ? "" : "Not available: " + reason;
}

bool draw_combo(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                const ValuesRefusal& refusal) {
  const std::string current = values.choice(p.key);
  if (!begin_combo(ui, "##value", choice_label(p, current))) return false;
  for (const std::string& choice : choice_ids(p)) {
    const std::string reason = choice_refusal(p, values, choice, refusal);
    if (list_row(ui, choice_label(p, choice), choice == current, reason.empty()))
      values.set(p.key, choice);
    mark(ui, id + "." + choice);
    hint(ui, reason);
  }
  ImGui::EndCombo();
  return values.choice(p.key) != current;
}

bool draw_choice(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                 const ValuesRefusal& refusal) {
  if (p.choices.size() > kMaxSegments) return draw_combo(ui, p, values, id, refusal);
  const std::string current = values.choice(p.key);
  std::vector<Segment> choices;
  std::vector<std::string> reasons;
  for (const std::string& choice : choice_ids(p)) {
    reasons.push_back(choice_refusal(p, values, choice, refusal));
  }
  int selected = 0;
  for (std::size_t i = 0; i < p.choices.size(); ++i) {
    choices.push_back({choice_label(p, p.choices[i].id).c_str(), reasons[i].c_str(),
                       p.choices[i].id.c_str(), reasons[i].empty()});
    if (p.choices[i].id == current) selected = static_cast<int>(i);
  }
  const int clicked = segments(ui, id.c_str(), choices, selected);
  if (clicked < 0 || p.choices[static_cast<std::size_t>(clicked)].id == current) return false;
  values.set(p.key, p.choices[static_cast<std::size_t>(clicked)].id);
  return true;
}

bool draw_list(Ui& ui, const Parameter& p, Values& values, const std::string& id,
               ParameterWidgets& widgets) {
  const Value value = values.all().find(p.key)->second;
  const auto [it, is_new] = widgets.by_id.try_emplace(id);
  ParameterWidgets::Entry& entry = it->second;
  if (is_new || entry.value != value) entry = {list_to_text(value), "", value};
  const bool has_rows = p.kind == Parameter::Kind::IntegerLists;
  focus_if_requested(ui, id, widgets);
  const bool changed =
      text_field(ui, entry.text, id.c_str(), has_rows ? "0, 1; 1, 2" : "comma-separated");
  if (!entry.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    paragraph(ui, entry.problem);
    ImGui::PopStyleColor();
  }
  if (!changed) return false;
  const std::optional<Value> parsed = list_from_text(p, entry.text, entry.problem);
  if (!parsed || *parsed == value) return false;
  entry.value = *parsed;
  values.set(p.key, *parsed);
  return true;
}

bool draw_value(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                const ValuesRefusal& refusal, ParameterWidgets& widgets) {
  using Kind = Parameter::Kind;
  bool changed = false;
  switch (p.kind) {
    case Kind::Integer:
    case Kind::Real:
      changed = draw_thin_slider(ui, p, values);
      break;
    case Kind::Choice:
      return draw_choice(ui, p, values, id, refusal);
    case Kind::Flag: {
      bool is_set = values.flag(p.key);
      changed = ImGui::Checkbox("##value", &is_set);
      if (changed) values.set(p.key, is_set);
      break;
    }
    case Kind::Integers:
    case Kind::Reals:
    case Kind::IntegerLists:
      return draw_list(ui, p, values, id, widgets);
  }
  mark(ui, id);
  return changed;
}

bool draw_parameter(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                    const ValuesRefusal& refusal, ParameterWidgets& widgets) {
  // Fields beside labels have a smaller height.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
  ImGui::AlignTextToFramePadding();
  draw_label(ui, p);
  ImGui::PopStyleVar();
  if (p.optional && !values.has(p.key)) {
    ImGui::SameLine(ImGui::GetContentRegionMax().x - ui.px(kUnsetWidth));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
    const bool clicked = draw_unset(ui, p, values, id, ui.px(kUnsetWidth), widgets);
    ImGui::PopStyleVar();
    return clicked;
  }
  bool changed = false;
  if (is_number(p)) {  // at the right of the label
    ImGui::SameLine(ImGui::GetContentRegionMax().x - ui.px(kResetWidth + kNumberWidth + 2));
    changed = draw_number(ui, p, values, id, kNumberWidth, widgets);
  }
  if (draw_reset(ui, p, values, id)) {
    values = reset(p, values);
    return true;
  }
  ImGui::SetNextItemWidth(-1);
  return draw_value(ui, p, values, id, refusal, widgets) || changed;
}

// Spacing of a strip, reduced if necessary to fit in a line.
struct StripSpacing {
  double gap = 16, slider = kStripSlider;  // units
};
constexpr double kLabelGap = 6;

// Width of a parameter's widget in a strip, without its label.
float widget_width(const Ui& ui, const Parameter& p, bool is_unset, double slider) {
  using Kind = Parameter::Kind;
  constexpr double kListWidth = 110;  // units
  if (is_unset) return ImGui::CalcTextSize(p.unset_label.c_str()).x + ui.px(20);
  if (p.kind == Kind::Flag) return ImGui::GetFrameHeight();
  if (is_number(p)) return ui.px(slider + 4 + kStripNumber);
  if (p.kind != Kind::Choice) return ui.px(kListWidth);
  float widest = 0;
  for (const std::string& choice : choice_ids(p)) {
    widest = std::max(widest, ImGui::CalcTextSize(choice_label(p, choice).c_str()).x);
  }
  return widest + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x;
}

float labelled_width(const Ui& ui, const Parameter& p, const Values& values, double slider) {
  return ImGui::CalcTextSize(p.label.c_str()).x + ui.px(kLabelGap) +
         widget_width(ui, p, p.optional && !values.has(p.key), slider);
}

using Parameters = std::vector<const Parameter*>;

Parameters list_pointers(const std::vector<Parameter>& parameters) {
  Parameters list;
  for (const Parameter& p : parameters) list.push_back(&p);
  return list;
}

float total_width(const Ui& ui, const Parameters& parameters, const Values& values,
                  const StripSpacing& space) {
  float width =
      ui.px(space.gap) * static_cast<float>(std::max<std::size_t>(parameters.size(), 1) - 1);
  for (const Parameter* p : parameters) width += labelled_width(ui, *p, values, space.slider);
  return width;
}

// The widest spacing with which the strip fits in one line; none if no spacing is small enough.
std::optional<StripSpacing> fitting_spacing(const Ui& ui, const Parameters& parameters,
                                            const Values& values, float max_width) {
  constexpr double kMinGap = 8, kMinSlider = 40;
  const StripSpacing defaults;
  for (const double gap : {defaults.gap, 12.0, kMinGap}) {
    for (const double slider : {defaults.slider, 60.0, kMinSlider}) {
      const StripSpacing space{gap, slider};
      if (total_width(ui, parameters, values, space) <= max_width) return space;
      if (gap > kMinGap) break;  // sliders shrink only at the smallest gap
    }
  }
  return std::nullopt;
}

std::string list_label(std::size_t count) {
  return std::to_string(count) + " more ▾";
}

float list_width(const Ui& ui, std::size_t count) {
  return ImGui::CalcTextSize(list_label(count).c_str()).x + ui.px(20);
}

// Division of the parameters between the line and the list at its end.
struct Strip {
  Parameters in_line, in_list;
  StripSpacing space{};
};

Strip divide_strip(const Ui& ui, const std::vector<Parameter>& parameters, const Values& values,
                   float max_width, const std::set<std::string>& overflow_keys) {
  Strip strip;
  strip.in_line = list_pointers(parameters);
  const auto move_to_list = [&](const Parameter* p) {
    std::erase(strip.in_line, p);
    strip.in_list.push_back(p);
  };
  const auto finish = [&] {
    std::ranges::sort(strip.in_list);  // in the order of the description
    return strip;
  };
  if (!overflow_keys.empty()) {
    for (const Parameter& p : parameters) {
      if (overflow_keys.contains(p.key)) move_to_list(&p);
    }
    const float line_width = max_width - list_width(ui, strip.in_list.size());
    strip.space = fitting_spacing(ui, strip.in_line, values, line_width).value_or(StripSpacing());
    return finish();
  }
  if (const auto space = fitting_spacing(ui, strip.in_line, values, max_width)) {
    strip.space = *space;
    return strip;
  }
  // Moves parameters with initial values to the list, from the last to the first: unset ones, then
  // flags, then others. Moves at least two, since the list's button takes the space of one.
  constexpr std::size_t kMinListed = 2;
  const Parameters candidates = strip.in_line;
  const auto rank = [&](const Parameter& p) {
    if (p.optional && !values.has(p.key)) return 0;
    return p.kind == Parameter::Kind::Flag ? 1 : 2;
  };
  for (const int current_rank : {0, 1, 2}) {
    for (auto p = candidates.rbegin(); p != candidates.rend() && strip.in_line.size() > 1; ++p) {
      if (rank(**p) != current_rank || !is_initial(**p, values)) continue;
      move_to_list(*p);
      if (strip.in_list.size() < kMinListed) continue;
      const float line_width =
          max_width - list_width(ui, strip.in_list.size()) - ui.px(strip.space.gap);
      if (const auto space = fitting_spacing(ui, strip.in_line, values, line_width)) {
        strip.space = *space;
        return finish();
      }
    }
  }
  return finish();  // more than one line is unavoidable
}

bool draw_in_strip(Ui& ui, const Parameter& p, Values& values, const std::string& id, double slider,
                   ParameterWidgets& widgets) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", p.label.c_str());
  hint(ui, p.help);
  ImGui::SameLine(0, ui.px(kLabelGap));
  const bool is_unset = p.optional && !values.has(p.key);
  std::optional<QuietScope> quiet;
  if (is_unset || p.kind == Parameter::Kind::Choice) quiet.emplace();
  if (is_unset) return draw_unset(ui, p, values, id, widget_width(ui, p, true, slider), widgets);
  ImGui::SetNextItemWidth(widget_width(ui, p, false, slider));
  bool changed = false, resets = false;
  if (is_number(p)) {
    ImGui::SetNextItemWidth(ui.px(slider));
    changed = draw_slider(p, values);
    mark(ui, id);
    hint(ui, p.help);
    resets |= ImGui::IsItemClicked(ImGuiMouseButton_Right);
    ImGui::SameLine(0, ui.px(4));
    changed |= draw_number(ui, p, values, id, kStripNumber, widgets);
  } else if (p.kind == Parameter::Kind::Choice) {
    changed = draw_combo(ui, p, values, id, {});
    mark(ui, id);
  } else {
    changed = draw_value(ui, p, values, id, {}, widgets);
    hint(ui, p.help);
  }
  // A right-click resets the parameter.
  resets |= ImGui::IsItemClicked(ImGuiMouseButton_Right);
  if (resets && !is_initial(p, values)) {
    values = reset(p, values);
    changed = true;
  }
  return changed;
}

}  // namespace

float parameter_strip_width(const Ui& ui, const std::vector<Parameter>& parameters,
                            const Values& values) {
  if (parameters.empty()) return 0;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(3)});
  const float width = total_width(ui, list_pointers(parameters), values, {});
  ImGui::PopStyleVar();
  return width;
}

namespace {

// Draws a parameter of a strip, or of the list at its end.
bool draw_strip_item(Ui& ui, const std::string& scope, const Parameter& p, const IdleReasons& idle,
                     Values& values, double slider, ParameterWidgets& widgets) {
  const std::string id = scope + "." + p.key;
  ImGui::PushID(id.c_str());
  const auto reason = idle.find(p.key);
  const bool has_effect = reason == idle.end();
  ImGui::BeginDisabled(!has_effect);
  ImGui::BeginGroup();
  ui.shows_hints = has_effect;
  const bool changed = draw_in_strip(ui, p, values, id, slider, widgets);
  ui.shows_hints = true;
  ImGui::EndGroup();
  ImGui::EndDisabled();
  if (!has_effect) hint(ui, reason->second);
  ImGui::PopID();
  return changed;
}

}  // namespace

bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, const IdleReasons& idle,
                          Values& values, ParameterWidgets& widgets, float reserved) {
  bool changed = false;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(3)});
  const std::string list_id = scope + ".more";
  if (!ImGui::IsPopupOpen(list_id.c_str())) widgets.overflow_keys.clear();
  const float max_width = ImGui::GetContentRegionAvail().x - reserved;
  const Strip strip = divide_strip(ui, parameters, values, max_width, widgets.overflow_keys);
  for (const Parameter* p : strip.in_line) {
    if (p != strip.in_line.front()) {
      ImGui::SameLine(0, ui.px(strip.space.gap));
      const float width = labelled_width(ui, *p, values, strip.space.slider);
      if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    }
    changed |= draw_strip_item(ui, scope, *p, idle, values, strip.space.slider, widgets);
  }
  if (!strip.in_list.empty()) {
    std::string names;
    for (const Parameter* p : strip.in_list) names += (names.empty() ? "" : ", ") + p->label;
    const std::string label = list_label(strip.in_list.size());
    ImGui::SameLine(0, ui.px(strip.space.gap));
    if (ImGui::GetContentRegionAvail().x < list_width(ui, strip.in_list.size())) ImGui::NewLine();
    if (button(ui, label.c_str(), list_id)) {
      ImGui::OpenPopup(list_id.c_str());
      for (const Parameter* p : strip.in_list) widgets.overflow_keys.insert(p->key);
    }
    hint(ui, names);
    const ImVec2 corner(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(2));
    ImGui::SetNextWindowPos(corner, ImGuiCond_Appearing);
    if (ImGui::BeginPopup(list_id.c_str())) {
      for (const Parameter* p : strip.in_list) {
        changed |= draw_strip_item(ui, scope, *p, idle, values, kStripSlider, widgets);
      }
      ImGui::EndPopup();
    }
  }
  ImGui::PopStyleVar();
  return changed;
}

namespace {

// Rarely used parameters: those with initial values, except the first few.
std::vector<const Parameter*> rarely_used_parameters(const std::vector<Parameter>& parameters,
                                                     const Values& values) {
  constexpr std::size_t kAlwaysVisible = 3, kMinHidden = 2;
  std::vector<const Parameter*> list;
  for (std::size_t n = kAlwaysVisible; n < parameters.size(); ++n) {
    if (is_initial(parameters[n], values)) list.push_back(&parameters[n]);
  }
  return list.size() < kMinHidden ? std::vector<const Parameter*>() : list;
}

}  // namespace

bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     const ValuesRefusal& refusal, Values& values, ParameterWidgets& widgets) {
  bool changed = false;
  const std::vector<const Parameter*> hidden = rarely_used_parameters(parameters, values);
  const bool is_open = widgets.expanded_scopes.contains(scope);
  for (const Parameter& p : parameters) {
    if (!is_open && std::ranges::find(hidden, &p) != hidden.end()) continue;
    const std::string id = scope + "." + p.key;
    ImGui::PushID(id.c_str());
    changed |= draw_parameter(ui, p, values, id, refusal, widgets);
    ImGui::PopID();
  }
  if (hidden.empty()) return changed;
  std::string names;
  for (const Parameter* p : hidden) names += (names.empty() ? "" : ", ") + p->label;
  const std::string label = is_open ? "Fewer parameters" : std::to_string(hidden.size()) + " more";
  if (button(ui, label.c_str(), scope + ".more")) {
    if (is_open) widgets.expanded_scopes.erase(scope);
    if (!is_open) widgets.expanded_scopes.insert(scope);
  }
  hint(ui, is_open ? "Hide rarely used parameters: " + names : names);
  return changed;
}

}  // namespace attnscope::window
