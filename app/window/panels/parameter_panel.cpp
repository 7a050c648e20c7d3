#include "app/window/panels/parameter_panel.h"

#include <algorithm>

#include "app/window/widgets/parameter_edit.h"

namespace attnscope::window {

namespace {

constexpr std::size_t kMostSegments = 3;
constexpr double kNumberWidth = 84, kResetWidth = 22, kLeftOutWidth = 96;  // units
constexpr double kStripSlider = 84, kStripNumber = 52;                     // units

bool is_number(const Parameter& p) {
  return p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
}

// Before the field of a parameter: what is typed goes there when it was just opened.
void focus_when_opened(const std::string& id, ListTexts& texts) {
  if (texts.opened != id) return;
  ImGui::SetKeyboardFocusHere();
  texts.opened.clear();
}

// In place of an optional parameter's field while it is left out. Returns whether it was clicked,
// which gives the parameter and opens its field.
bool draw_left_out(Ui& ui, const Parameter& p, Values& values, const std::string& id, float width,
                   ListTexts& texts) {
  const bool clicked = button(ui, p.left_out.c_str(), id, false, width);
  hint(ui, p.help + " Click to set it by hand.");
  if (!clicked) return false;
  values = given(p, values);
  if (p.kind != Parameter::Kind::Choice && p.kind != Parameter::Kind::Flag) texts.opened = id;
  return true;
}

// The label with its symbol, and its hint.
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

// At the right end of the label's line: back to the default. True when clicked.
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
  hint(ui, "Back to " + (p.optional ? p.left_out : choice_label(p, initial)));
  return clicked;
}

// The number, to be typed.
bool draw_number(Ui& ui, const Parameter& p, Values& values, const std::string& id, double width,
                 ListTexts& texts) {
  focus_when_opened(id, texts);
  ImGui::SetNextItemWidth(ui.px(width));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
  bool changed = false;
  if (p.kind == Parameter::Kind::Integer) {
    ImS64 value = values.integer(p.key);
    changed = ImGui::InputScalar("##number", ImGuiDataType_S64, &value, nullptr, nullptr, "%lld",
                                 ImGuiInputTextFlags_EnterReturnsTrue);
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    if (changed) values.set(p.key, clamped(p, static_cast<Index>(value)));
  } else {
    double value = values.real(p.key);
    changed = ImGui::InputScalar("##number", ImGuiDataType_Double, &value, nullptr, nullptr,
                                 number_format(p).c_str(), ImGuiInputTextFlags_EnterReturnsTrue);
    changed |= ImGui::IsItemDeactivatedAfterEdit();
    if (changed) values.set(p.key, clamped(p, value));
  }
  ImGui::PopStyleVar();
  mark(ui, id + ".number");
  hint(ui, p.help + " Click to type: " + expected_text(p) + ".");
  return changed;
}

// Without its number, which stands in a field beside it: on the slider the knob would hide it.
bool draw_slider(const Parameter& p, Values& values) {
  ImGuiSliderFlags flags = ImGuiSliderFlags_NoInput;
  if (p.slider_logarithmic) flags |= ImGuiSliderFlags_Logarithmic;
  ImGui::PushStyleColor(ImGuiCol_Text, ImVec4(0, 0, 0, 0));
  bool changed = false;
  if (p.kind == Parameter::Kind::Integer) {
    ImS64 value = values.integer(p.key);
    const auto least = static_cast<ImS64>(p.slider_least), most = static_cast<ImS64>(p.slider_most);
    changed =
        ImGui::SliderScalar("##slider", ImGuiDataType_S64, &value, &least, &most, "%lld", flags);
    if (changed) values.set(p.key, clamped(p, static_cast<Index>(value)));
  } else {
    double value = values.real(p.key);
    changed = ImGui::SliderScalar("##slider", ImGuiDataType_Double, &value, &p.slider_least,
                                  &p.slider_most, number_format(p).c_str(), flags);
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

// Why this choice cannot be taken with the other values as they are; empty: it can.
std::string choice_refusal(const Parameter& p, const Values& values, const std::string& choice,
                           const ValuesRefusal& refusal) {
  if (!refusal) return "";
  Values next = values;
  next.set(p.key, choice);
  const std::string reason = refusal(next);
  return reason.empty() ? "" : "Not here: " + reason;
}

bool draw_combo(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                const ValuesRefusal& refusal) {
  const std::string now = values.choice(p.key);
  if (!begin_combo(ui, "##value", choice_label(p, now))) return false;
  for (const std::string& choice : p.choices) {
    const std::string reason = choice_refusal(p, values, choice, refusal);
    if (list_row(ui, choice_label(p, choice), choice == now, reason.empty()))
      values.set(p.key, choice);
    mark(ui, id + "." + choice);
    hint(ui, reason);
  }
  ImGui::EndCombo();
  return values.choice(p.key) != now;
}

bool draw_choice(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                 const ValuesRefusal& refusal) {
  if (p.choices.size() > kMostSegments) return draw_combo(ui, p, values, id, refusal);
  const std::string now = values.choice(p.key);
  std::vector<Segment> choices;
  std::vector<std::string> reasons;
  for (const std::string& choice : p.choices) {
    reasons.push_back(choice_refusal(p, values, choice, refusal));
  }
  int chosen = 0;
  for (std::size_t i = 0; i < p.choices.size(); ++i) {
    choices.push_back({choice_label(p, p.choices[i]).c_str(), reasons[i].c_str(),
                       p.choices[i].c_str(), reasons[i].empty()});
    if (p.choices[i] == now) chosen = static_cast<int>(i);
  }
  const int clicked = segments(ui, id.c_str(), choices, chosen);
  if (clicked < 0 || p.choices[static_cast<std::size_t>(clicked)] == now) return false;
  values.set(p.key, p.choices[static_cast<std::size_t>(clicked)]);
  return true;
}

bool draw_list(Ui& ui, const Parameter& p, Values& values, const std::string& id,
               ListTexts& texts) {
  const Value value = values.all().find(p.key)->second;
  const auto [place, is_new] = texts.by_id.try_emplace(id);
  ListTexts::Entry& entry = place->second;
  if (is_new || entry.shown != value) entry = {list_to_text(value), "", value};
  const bool rows = p.kind == Parameter::Kind::IntegerLists;
  focus_when_opened(id, texts);
  const bool changed =
      text_field(ui, "##value", entry.text, id, rows ? "0, 1; 1, 2" : "numbers, with commas");
  if (!entry.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    paragraph(ui, entry.problem);
    ImGui::PopStyleColor();
  }
  if (!changed) return false;
  const std::optional<Value> parsed = list_from_text(p, entry.text, entry.problem);
  if (!parsed || *parsed == value) return false;
  entry.shown = *parsed;
  values.set(p.key, *parsed);
  return true;
}

bool draw_value(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                const ValuesRefusal& refusal, ListTexts& texts) {
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
      bool on = values.flag(p.key);
      changed = ImGui::Checkbox("##value", &on);
      if (changed) values.set(p.key, on);
      break;
    }
    case Kind::Integers:
    case Kind::Reals:
    case Kind::IntegerLists:
      return draw_list(ui, p, values, id, texts);
  }
  mark(ui, id);
  return changed;
}

bool draw_parameter(Ui& ui, const Parameter& p, Values& values, const std::string& id,
                    const ValuesRefusal& refusal, ListTexts& texts) {
  // The fields beside labels are lower than others.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
  ImGui::AlignTextToFramePadding();
  draw_label(ui, p);
  ImGui::PopStyleVar();
  if (p.optional && !values.has(p.key)) {
    ImGui::SameLine(ImGui::GetContentRegionMax().x - ui.px(kLeftOutWidth));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(2)});
    const bool clicked = draw_left_out(ui, p, values, id, ui.px(kLeftOutWidth), texts);
    ImGui::PopStyleVar();
    return clicked;
  }
  bool changed = false;
  if (is_number(p)) {  // at the right of the label
    ImGui::SameLine(ImGui::GetContentRegionMax().x - ui.px(kResetWidth + kNumberWidth + 2));
    changed = draw_number(ui, p, values, id, kNumberWidth, texts);
  }
  if (draw_reset(ui, p, values, id)) {
    values = reset(p, values);
    return true;
  }
  ImGui::SetNextItemWidth(-1);
  return draw_value(ui, p, values, id, refusal, texts) || changed;
}

// How close the parts of a strip stand: less where all would be longer than a line.
struct StripSpace {
  double gap = 16, slider = kStripSlider;  // units
};
constexpr double kLabelGap = 6;

// The width of a parameter's widget in a strip, without its label.
float strip_width(const Ui& ui, const Parameter& p, bool left_out, double slider) {
  using Kind = Parameter::Kind;
  constexpr double kList = 110;  // units
  if (left_out) return ImGui::CalcTextSize(p.left_out.c_str()).x + ui.px(20);
  if (p.kind == Kind::Flag) return ImGui::GetFrameHeight();
  if (is_number(p)) return ui.px(slider + 4 + kStripNumber);
  if (p.kind != Kind::Choice) return ui.px(kList);
  float widest = 0;
  for (const std::string& choice : p.choices) {
    widest = std::max(widest, ImGui::CalcTextSize(choice_label(p, choice).c_str()).x);
  }
  return widest + ImGui::GetFrameHeight() + 2 * ImGui::GetStyle().FramePadding.x;
}

float labelled_width(const Ui& ui, const Parameter& p, const Values& values, double slider) {
  return ImGui::CalcTextSize(p.label.c_str()).x + ui.px(kLabelGap) +
         strip_width(ui, p, p.optional && !values.has(p.key), slider);
}

using Parameters = std::vector<const Parameter*>;

Parameters all_of(const std::vector<Parameter>& parameters) {
  Parameters list;
  for (const Parameter& p : parameters) list.push_back(&p);
  return list;
}

float whole_width(const Ui& ui, const Parameters& parameters, const Values& values,
                  const StripSpace& space) {
  float width =
      ui.px(space.gap) * static_cast<float>(std::max<std::size_t>(parameters.size(), 1) - 1);
  for (const Parameter* p : parameters) width += labelled_width(ui, *p, values, space.slider);
  return width;
}

// As wide as it likes, or what has it in one line, or the least.
std::optional<StripSpace> fitting_space(const Ui& ui, const Parameters& parameters,
                                        const Values& values, float room) {
  constexpr double kLeastGap = 8, kLeastSlider = 40;
  const StripSpace usual;
  for (const double gap : {usual.gap, 12.0, kLeastGap}) {
    for (const double slider : {usual.slider, 60.0, kLeastSlider}) {
      const StripSpace space{gap, slider};
      if (whole_width(ui, parameters, values, space) <= room) return space;
      if (gap > kLeastGap) break;  // gaps give way first
    }
  }
  return std::nullopt;
}

std::string more_label(std::size_t count) {
  return std::to_string(count) + " more ▾";
}

float more_width(const Ui& ui, std::size_t count) {
  return ImGui::CalcTextSize(more_label(count).c_str()).x + ui.px(20);
}

// Which parameters stand in the line, and which in the list at its end.
struct Strip {
  Parameters shown, listed;
  StripSpace space{};
};

Strip strip_of(const Ui& ui, const std::vector<Parameter>& parameters, const Values& values,
               float room, const std::set<std::string>& listed) {
  Strip strip;
  strip.shown = all_of(parameters);
  const auto fold = [&](const Parameter* p) {
    std::erase(strip.shown, p);
    strip.listed.push_back(p);
  };
  const auto sorted = [&] {
    std::ranges::sort(strip.listed);  // as they are described
    return strip;
  };
  if (!listed.empty()) {
    for (const Parameter& p : parameters) {
      if (listed.contains(p.key)) fold(&p);
    }
    const float left = room - more_width(ui, strip.listed.size());
    strip.space = fitting_space(ui, strip.shown, values, left).value_or(StripSpace());
    return sorted();
  }
  if (const auto space = fitting_space(ui, strip.shown, values, room)) {
    strip.space = *space;
    return strip;
  }
  // The last of what is left out first, then switches, then the rest; at least two, since one is no
  // longer than the list's button.
  constexpr std::size_t kFewest = 2;
  const Parameters all = strip.shown;
  const auto rank = [&](const Parameter& p) {
    if (p.optional && !values.has(p.key)) return 0;
    return p.kind == Parameter::Kind::Flag ? 1 : 2;
  };
  for (const int now : {0, 1, 2}) {
    for (auto p = all.rbegin(); p != all.rend() && strip.shown.size() > 1; ++p) {
      if (rank(**p) != now || !is_initial(**p, values)) continue;
      fold(*p);
      if (strip.listed.size() < kFewest) continue;
      const float left = room - more_width(ui, strip.listed.size()) - ui.px(strip.space.gap);
      if (const auto space = fitting_space(ui, strip.shown, values, left)) {
        strip.space = *space;
        return sorted();
      }
    }
  }
  return sorted();  // it takes more lines anyway
}

bool draw_in_strip(Ui& ui, const Parameter& p, Values& values, const std::string& id, double slider,
                   ListTexts& texts) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(p.label.c_str());
  hint(ui, p.help);
  ImGui::SameLine(0, ui.px(kLabelGap));
  const bool left_out = p.optional && !values.has(p.key);
  if (left_out) return draw_left_out(ui, p, values, id, strip_width(ui, p, true, slider), texts);
  ImGui::SetNextItemWidth(strip_width(ui, p, false, slider));
  bool changed = false, resets = false;
  if (is_number(p)) {
    ImGui::SetNextItemWidth(ui.px(slider));
    changed = draw_slider(p, values);
    mark(ui, id);
    hint(ui, p.help);
    resets |= ImGui::IsItemClicked(ImGuiMouseButton_Right);
    ImGui::SameLine(0, ui.px(4));
    changed |= draw_number(ui, p, values, id, kStripNumber, texts);
  } else if (p.kind == Parameter::Kind::Choice) {
    changed = draw_combo(ui, p, values, id, {});
    mark(ui, id);
  } else {
    changed = draw_value(ui, p, values, id, {}, texts);
    hint(ui, p.help);
  }
  // A click with the right button brings the default back.
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
  const float width = whole_width(ui, all_of(parameters), values, {});
  ImGui::PopStyleVar();
  return width;
}

namespace {

// A parameter of a strip, or of the list at its end.
bool draw_strip_item(Ui& ui, const std::string& scope, const Parameter& p, const IdleReasons& idle,
                     Values& values, double slider, ListTexts& texts) {
  const std::string id = scope + "." + p.key;
  ImGui::PushID(id.c_str());
  const auto reason = idle.find(p.key);
  const bool works = reason == idle.end();
  ImGui::BeginDisabled(!works);
  ImGui::BeginGroup();
  ui.hints = works;
  const bool changed = draw_in_strip(ui, p, values, id, slider, texts);
  ui.hints = true;
  ImGui::EndGroup();
  ImGui::EndDisabled();
  if (!works) hint(ui, reason->second);
  ImGui::PopID();
  return changed;
}

}  // namespace

bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, const IdleReasons& idle,
                          Values& values, ListTexts& texts, float after) {
  bool changed = false;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(6), ui.px(3)});
  const std::string list = scope + ".more";
  if (!ImGui::IsPopupOpen(list.c_str())) texts.listed.clear();
  const float room = ImGui::GetContentRegionAvail().x - after;
  const Strip strip = strip_of(ui, parameters, values, room, texts.listed);
  for (const Parameter* p : strip.shown) {
    if (p != strip.shown.front()) {
      ImGui::SameLine(0, ui.px(strip.space.gap));
      const float width = labelled_width(ui, *p, values, strip.space.slider);
      if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    }
    changed |= draw_strip_item(ui, scope, *p, idle, values, strip.space.slider, texts);
  }
  if (!strip.listed.empty()) {
    std::string names;
    for (const Parameter* p : strip.listed) names += (names.empty() ? "" : ", ") + p->label;
    const std::string label = more_label(strip.listed.size());
    ImGui::SameLine(0, ui.px(strip.space.gap));
    if (ImGui::GetContentRegionAvail().x < more_width(ui, strip.listed.size())) ImGui::NewLine();
    if (button(ui, label.c_str(), list)) {
      ImGui::OpenPopup(list.c_str());
      for (const Parameter* p : strip.listed) texts.listed.insert(p->key);
    }
    hint(ui, names);
    const ImVec2 corner(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(2));
    ImGui::SetNextWindowPos(corner, ImGuiCond_Appearing);
    if (ImGui::BeginPopup(list.c_str())) {
      for (const Parameter* p : strip.listed) {
        changed |= draw_strip_item(ui, scope, *p, idle, values, kStripSlider, texts);
      }
      ImGui::EndPopup();
    }
  }
  ImGui::PopStyleVar();
  return changed;
}

namespace {

// What most people never touch: all behind the first few that are as they were.
std::vector<const Parameter*> further(const std::vector<Parameter>& parameters,
                                      const Values& values) {
  constexpr std::size_t kFirst = 3, kFewest = 2;
  std::vector<const Parameter*> list;
  for (std::size_t n = kFirst; n < parameters.size(); ++n) {
    if (is_initial(parameters[n], values)) list.push_back(&parameters[n]);
  }
  return list.size() < kFewest ? std::vector<const Parameter*>() : list;
}

}  // namespace

bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     const ValuesRefusal& refusal, Values& values, ListTexts& texts) {
  bool changed = false;
  const std::vector<const Parameter*> folded = further(parameters, values);
  const bool unfolded = texts.unfolded.contains(scope);
  for (const Parameter& p : parameters) {
    if (!unfolded && std::ranges::find(folded, &p) != folded.end()) continue;
    const std::string id = scope + "." + p.key;
    ImGui::PushID(id.c_str());
    changed |= draw_parameter(ui, p, values, id, refusal, texts);
    ImGui::PopID();
  }
  if (folded.empty()) return changed;
  std::string names;
  for (const Parameter* p : folded) names += (names.empty() ? "" : ", ") + p->label;
  const std::string label = unfolded ? "Fewer parameters" : std::to_string(folded.size()) + " more";
  if (button(ui, label.c_str(), scope + ".more")) {
    if (unfolded) texts.unfolded.erase(scope);
    if (!unfolded) texts.unfolded.insert(scope);
  }
  hint(ui, unfolded ? "Hide what is seldom changed: " + names : names);
  return changed;
}

}  // namespace attnscope::window
