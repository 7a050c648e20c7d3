#include "app/window/panels/view_toolbar.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/window/actions/actions.h"
#include "app/window/files.h"
#include "app/window/panels/part_chooser.h"
#include "app/window/widgets/parameter_edit.h"
#include "core/analysis/head_name.h"
#include "core/experiment/head_table.h"
#include "core/figure/colour_map.h"
#include "core/view/parts/range.h"
#include "core/view/view_values.h"

namespace attnscope::window {
namespace {

// Window widths in units below which controls are smaller, without and with lists of parts.
constexpr double kNarrow = 600, kNarrowParts = 900;

std::string key_hint(const Action& a) {
  return a.shortcuts.empty() ? "" : "  (" + to_string(a.shortcuts.front()) + ")";
}

constexpr double kTabHeight = 13;  // units above and below a label, together

float bold_width(const Ui& ui, const std::string& label) {
  ImGui::PushFont(ui.fonts.bold);
  const float width = ImGui::CalcTextSize(label.c_str()).x;
  ImGui::PopFont();
  return width;
}

// Draws a tab. True when clicked. Each tab is as wide as its bold label, so that no tab moves when
// another tab becomes current. `padding`: units left and right of the label.
bool draw_tab_label(Ui& ui, const std::string& label, const std::string& id, bool is_current,
                    bool is_enabled, double padding) {
  const float width = bold_width(ui, label) + 2 * ui.px(padding);
  ImGui::PushFont(is_current ? ui.fonts.bold : ui.fonts.body);
  const ImVec2 extent = ImGui::CalcTextSize(label.c_str());
  const ImVec2 size(width, extent.y + ui.px(kTabHeight));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::BeginDisabled(!is_enabled);
  const bool clicked = invisible_button(id.c_str(), size);
  const bool is_hovered = ImGui::IsItemHovered();
  ImGui::EndDisabled();
  mark(ui, id);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec4& colour =
      is_current ? ui.look->accent : (is_hovered ? ui.look->text : ui.look->faint);
  draw.AddText({origin.x + (width - extent.x) / 2, origin.y + ui.px(kTabHeight / 2)},
               packed(colour, is_enabled || is_current ? 1.0F : 0.45F), label.c_str());
  if (is_current) {
    draw.AddRectFilled({origin.x + ui.px(padding - 3), origin.y + size.y - ui.px(3)},
                       {origin.x + size.x - ui.px(padding - 3), origin.y + size.y},
                       packed(ui.look->accent), ui.px(1.5));
  }
  ImGui::PopFont();
  return clicked;
}

// Tab of a view; disabled with a reason if the run has no content for it.
void draw_tab(Ui& ui, State& state, const View& view, double padding) {
  const Action& open = action("view." + view.id);
  const bool is_current = state.session->view.id == view.id;
  const bool has_content = view_objection(view, state).empty();
  if (draw_tab_label(ui, view.label, open.id, is_current, has_content, padding)) open.run(state);
  hint(ui, help_text(open, state) + key_hint(open));
}

// List of the views that have no tab, under the headings of their groups.
void draw_more_views(Ui& ui, State& state, std::size_t first) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(6)});
  if (begin_list(ui, "views")) {
    std::string group;
    for (std::size_t n = first; n < views().size(); ++n) {
      const View& v = views()[n];
      if (std::exchange(group, v.group) != v.group) {
        ImGui::PushFont(ui.fonts.small);
        ImGui::TextDisabled("%s", v.group.c_str());
        ImGui::PopFont();
      }
      const Action& open = action("view." + v.id);
      const bool is_current = state.session->view.id == v.id;
      const bool has_content = view_objection(v, state).empty();
      if (list_row(ui, v.label + key_hint(open), is_current, has_content)) open.run(state);
      mark(ui, open.id);
      hint(ui, help_text(open, state));
    }
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

// Draws as many of the first kTabs views as fit as tabs, and a list of the other views, in one
// line. The positions depend on the window's width, not on the model, the run or the current view.
void draw_tabs(Ui& ui, State& state) {
  constexpr double kMinPadding = 3.5, kMaxPadding = 12;  // units
  constexpr const char* kMore = "More ▾";
  const float available_width = ImGui::GetContentRegionAvail().x - ui.px(1);
  float list_width = 0;  // the list's label is the current view if that has no tab
  for (const View& v : views()) list_width = std::max(list_width, bold_width(ui, v.label + " ▾"));
  float labels = list_width;
  std::size_t tabs = 0;
  while (tabs < kTabs) {
    const float wider = labels + bold_width(ui, views()[tabs].label);
    if (wider + 2 * ui.px(kMinPadding) * static_cast<float>(tabs + 2) > available_width) break;
    labels = wider;
    ++tabs;
  }
  const auto fitting =
      static_cast<double>((available_width - labels) / ui.px(2)) / static_cast<double>(tabs + 1);
  const double padding = std::clamp(fitting, kMinPadding, kMaxPadding);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  const View* listed = nullptr;  // the current view if it has no tab
  for (std::size_t n = 0; n < views().size(); ++n) {
    if (n < tabs) {
      draw_tab(ui, state, views()[n], padding);
      ImGui::SameLine(0, 0);
    } else if (views()[n].id == state.session->view.id) {
      listed = &views()[n];
    }
  }
  const std::string label = listed != nullptr ? listed->label + " ▾" : kMore;
  if (draw_tab_label(ui, label, "views.more", listed != nullptr, true, padding)) {
    ImGui::OpenPopup("views");
  }
  const ImVec2 corner(ImGui::GetItemRectMin().x, ImGui::GetItemRectMax().y + ui.px(4));
  hint(ui, "All other views.");
  if (ImGui::IsPopupOpen("views")) ImGui::SetNextWindowPos(corner);
  ImGui::PopStyleVar();
  draw_more_views(ui, state, tabs);
  ImGui::Dummy({0, ui.px(2)});
}

// Type of a head, drawn next to its number; only for maps small enough to measure within a frame.
RowNote head_note(const Trace& trace, const HeadRef& ref) {
  constexpr Index kMaxWeights = Index{1} << 18;
  constexpr double kNoteOffset = 64;  // units
  Index group_head = 0;
  const AttentionTap* tap = trace.find(ref, &group_head);
  const bool is_measurable = tap != nullptr && tap->stores_map() && tap->result.device == nullptr &&
                             tap->queries() * tap->keys() <= kMaxWeights;
  if (!is_measurable || is_signed(*tap, group_head)) return {};
  return {
      head_name(head_statistics(trace, *tap, group_head), head_baseline(trace, *tap, group_head))
          .badge,
      kNoteOffset};
}

// Measures all heads of the layer if the notes describe other heads.
const RowNote& cached_note(const State& state, Index layer, Index head, HeadNotes& notes) {
  const std::shared_ptr<const Trace> trace =
      state.edits_b() ? state.run.reference() : state.run.trace;
  const TracePart part = state.part();
  if (notes.trace.lock() != trace || notes.layer != layer || notes.part != part) {
    notes = {trace, layer, part, {}};
    for (Index h = 0; h < state.heads(); ++h) {
      notes.heads.push_back(head_note(*trace, {layer, h, part}));
    }
  }
  return notes.heads[static_cast<std::size_t>(head)];
}

// Draws "‹ Layer 2 ›": the arrows run actions, the middle opens a list. Numbers start at 0, as on
// the command line.
void draw_stepper(Ui& ui, const char* label, Index current, Index count, const Action& back,
                  const Action& forward, State& state, Index& selected,
                  const std::function<RowNote(Index)>& note = {}) {
  const std::string refusal = forward.refusal(state);
  ImGui::PushID(label);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(2), ImGui::GetStyle().ItemSpacing.y});
  ImGui::BeginDisabled(!back.enabled(state));
  if (button(ui, "‹", back.id)) back.run(state);
  hint(ui, help_text(back, state) + key_hint(back));
  ImGui::EndDisabled();
  ImGui::SameLine();
  const std::string text = std::string(label) + " " + std::to_string(current);
  // Steppers are narrower in small windows and beside lists of parts, to leave room for colours.
  const Trace* trace = state.edited_trace();
  const AddressParts parts = trace != nullptr ? trace->parts : AddressParts();
  const bool has_parts = parts.stack || parts.kind || parts.step || parts.segment;
  const bool is_narrow = ImGui::GetWindowWidth() < ui.px(has_parts ? kNarrowParts : kNarrow);
  ImGui::BeginDisabled(!refusal.empty());
  if (button(ui, text.c_str(), label, false, ui.px(is_narrow ? 62 : 88))) ImGui::OpenPopup("list");
  ImGui::EndDisabled();
  hint(ui, refusal);
  ImGui::SameLine();
  ImGui::BeginDisabled(!forward.enabled(state));
  if (button(ui, "›", forward.id)) forward.run(state);
  hint(ui, help_text(forward, state) + key_hint(forward));
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  if (begin_list(ui, "list")) {
    for (Index i = 0; i < count; ++i) {
      const std::string entry = std::string(label) + " " + std::to_string(i);
      if (list_row(ui, entry, i == current, true, note ? note(i) : RowNote())) selected = i;
      mark(ui, std::string(label) + "." + std::to_string(i));
    }
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

void draw_colour_maps(Ui& ui, State& state, const ViewControls& controls) {
  const ColourMap& current = effective_map(controls, state.session->view.colour_map);
  ImGui::SetNextItemWidth(ui.px(110));
  const bool is_open = begin_combo(ui, "##colours", current.label);
  mark(ui, "colour_map");
  if (!is_open) hint(ui, "Colours of the heat map" + key_hint(action("colour_map")));
  if (is_open) {
    for (const ColourMap* map : applicable_maps(controls)) {
      if (list_row(ui, map->label, map == &current)) {
        state.session.edit().view.colour_map = map->id;
      }
      mark(ui, "colour_map." + map->id);
    }
    ImGui::EndCombo();
  }
}

constexpr double kColourEndWidth = 172;

void draw_colour_ends(Ui& ui, State& state, const std::vector<ColourEndChoice>& choices) {
  const ColourEndChoice& current = *selected_colour_end(choices, state.session->view.colour_end);
  ImGui::SetNextItemWidth(ui.px(kColourEndWidth));
  const bool is_open = begin_combo(ui, "##colour_end", current.label);
  mark(ui, "colour_end");
  if (!is_open) hint(ui, current.help + key_hint(action("colour_end")));
  if (!is_open) return;
  for (const ColourEndChoice& choice : choices) {
    if (list_row(ui, choice.label, &choice == &current)) {
      state.session.edit().view.colour_end = choice.end;
    }
    hint(ui, choice.help);
    mark(ui, "colour_end." + name_of(choice.end));
  }
  ImGui::EndCombo();
}

// Check box for an action that turns a setting on and off.
void draw_switch(Ui& ui, State& state, const char* label, const Action& a) {
  const bool is_enabled = a.enabled(state);
  ImGui::BeginDisabled(!is_enabled);
  bool is_checked = is_enabled && a.checked(state);
  if (ImGui::Checkbox(label, &is_checked)) a.run(state);
  mark(ui, a.id);
  ImGui::EndDisabled();
  hint(ui, help_text(a, state) + key_hint(a));
}

bool hides_special(const ViewControls& controls) {
  return controls.words && controls.special_tokens_refusal.empty();
}

// Width of a switch with the space after it.
float switch_width(const char* label) {
  return ImGui::CalcTextSize(label).x + ImGui::GetFrameHeight() +
         2 * ImGui::GetStyle().ItemSpacing.x;
}

// Controls to draw. With simple controls, omits colours at their defaults, unset parameters, and
// controls without an effect.
ViewControls drawn_controls(const Ui& ui, const State& state) {
  ViewControls controls = state.controls();
  if (!ui.is_simple) return controls;
  const ViewSettings& settings = state.session->view;
  const ViewSettings defaults;
  if (settings.colour_map == defaults.colour_map) controls.colours = ViewControls::Colours::None;
  if (settings.colour_end == defaults.colour_end) controls.colour_ends.clear();
  const bool has_pieces = controls.word_merging_refusal.empty();
  controls.words = controls.words && (has_pieces || controls.special_tokens_refusal.empty());
  const Values values = view_values(settings, settings.id);
  std::erase_if(controls.parameters, [&](const Parameter& p) {
    return (p.optional && !values.has(p.key)) ||
           (controls.idle.contains(p.key) && is_initial(p, values));
  });
  return controls;
}

float colours_width(const Ui& ui, const ViewControls& controls) {
  const bool has_maps = controls.colours != ViewControls::Colours::None;
  const bool has_ends = controls.colour_ends.size() > 1;
  const float spacing = ImGui::GetStyle().ItemSpacing.x;
  return (has_maps ? ui.px(110) + spacing : 0) + (has_ends ? ui.px(kColourEndWidth) + spacing : 0) +
         (controls.words ? switch_width("Words") : 0) +
         (hides_special(controls) ? switch_width("Special") : 0);
}

// Colour settings that have an effect, at the right end of the line if there is room.
void draw_colours(Ui& ui, State& state, const ViewControls& controls) {
  const bool has_maps = controls.colours != ViewControls::Colours::None;
  const bool has_ends = controls.colour_ends.size() > 1;
  if (!has_maps && !has_ends && !controls.words) return;
  const float width = colours_width(ui, controls);
  const float left = ImGui::GetContentRegionMax().x - width;
  if (left > ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + ui.px(14)) ImGui::SameLine(left);
  if (controls.words) draw_switch(ui, state, "Words", action("words"));
  if (hides_special(controls)) {
    ImGui::SameLine();
    draw_switch(ui, state, "Special", action("special"));
  }
  if (controls.words && (has_maps || has_ends)) ImGui::SameLine();
  if (has_maps) draw_colour_maps(ui, state, controls);
  if (!has_ends) return;
  if (has_maps) ImGui::SameLine();
  draw_colour_ends(ui, state, controls.colour_ends);
}

constexpr double kPlayWidth = 64;

void draw_play(Ui& ui, State& state) {
  const Action& play = action("play");
  ImGui::BeginDisabled(!play.enabled(state));
  if (button(ui, state.view.play.is_on ? "Stop" : "Play", play.id, false, ui.px(kPlayWidth))) {
    play.run(state);
  }
  ImGui::EndDisabled();
  hint(ui, play.help + key_hint(play));
}

// True if the line of parameters has content.
bool has_strip(const ViewControls& controls, bool play_above) {
  return !controls.parameters.empty() || (controls.animation && !play_above);
}

void draw_view_parameters(Ui& ui, State& state, const ViewControls& controls, bool play_above,
                          float reserved, ParameterWidgets& widgets) {
  const ViewSettings& settings = state.session->view;
  const View& v = view(settings.id);
  if (!has_strip(controls, play_above)) return;
  Values values = view_values(settings, v.id);
  if (controls.animation && !play_above) {
    // Same height as the items that follow.
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), ui.px(3)});
    draw_play(ui, state);
    ImGui::PopStyleVar();
    ImGui::SameLine(0, ui.px(16));
  }
  if (controls.parameters.empty()) return;
  if (draw_parameter_strip(ui, v.id, controls.parameters, controls.idle, values, widgets,
                           reserved)) {
    set_view_values(state.session.edit().view, v.id, values);
  }
}

// Commands of the view, drawn as buttons.
std::vector<const Action*> view_actions(const State& state) {
  std::vector<const Action*> list;
  for (const Action& a : actions()) {
    if (a.view != state.session->view.id || (a.has_button && !a.has_button(state))) continue;
    list.push_back(&a);
  }
  return list;
}

constexpr double kActionGap = 8;

float action_width(const Ui& ui, const std::string& label) {
  return ImGui::CalcTextSize(label.c_str()).x + ui.px(24);
}

float actions_width(const Ui& ui, const std::vector<const Action*>& list) {
  float width = 0;
  for (const Action* a : list) width += action_width(ui, a->label) + ui.px(kActionGap);
  return width;
}

// Draws as many commands as fit in the line, and a list of the others.
void draw_view_actions(Ui& ui, State& state, const std::vector<const Action*>& list, bool is_first,
                       double padding) {
  constexpr const char* kMore = "More ▾";
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), ui.px(padding)});
  std::size_t n = 0;
  for (; n < list.size(); ++n) {
    const Action& a = *list[n];
    const float width = action_width(ui, a.label);
    const float list_width = n + 1 < list.size() ? action_width(ui, kMore) + ui.px(kActionGap) : 0;
    if (!is_first) ImGui::SameLine(0, ui.px(kActionGap));
    const float available_width = ImGui::GetContentRegionAvail().x;
    const std::vector<const Action*> remaining(list.begin() + static_cast<std::ptrdiff_t>(n),
                                               list.end());
    const bool all_fit = actions_width(ui, remaining) - ui.px(kActionGap) <= available_width;
    if (!all_fit && available_width < width + list_width) {
      if (n == 0 && !is_first) ImGui::NewLine();  // below the parameters
      if (n > 0) break;
    }
    is_first = false;
    ImGui::BeginDisabled(!a.enabled(state));
    const bool is_checked = a.checked && a.checked(state);
    if (button(ui, a.label.c_str(), a.id, is_checked)) a.run(state);
    ImGui::EndDisabled();
    hint(ui, help_text(a, state) + key_hint(a));
  }
  if (n < list.size()) {
    if (button(ui, kMore, "more")) ImGui::OpenPopup("more");
    if (begin_list(ui, "more")) {
      for (; n < list.size(); ++n) {
        const Action& a = *list[n];
        const bool is_checked = a.checked && a.checked(state);
        if (list_row(ui, a.label + key_hint(a), is_checked, a.enabled(state))) a.run(state);
        mark(ui, a.id);
        hint(ui, help_text(a, state));
      }
      ImGui::EndPopup();
    }
  }
  ImGui::PopStyleVar();
}

// Progress of a picture that requires further runs, and a button to cancel them.
void draw_picture_progress(Ui& ui, State& state, const char* id) {
  const FindingTask& finding = state.run.finding_tasks[id];
  if (finding.is_running()) {
    ImGui::SameLine(0, ui.px(16));
    ImGui::ProgressBar(static_cast<float>(finding.task->fraction()), {ui.px(90), 0});
    ImGui::SameLine();
    if (button(ui, "Cancel", (std::string(id) + ".cancel").c_str())) {
      set_view_value(state.session.edit().view, "mechanism", "picture", std::string("automatic"));
    }
    hint(ui, "Stop, and show the default picture.");
  } else if (const std::string problem = finding.problem(); !problem.empty()) {
    ImGui::SameLine(0, ui.px(16));
    ImGui::TextColored(ui.look->error, "%s", on_screen(problem).c_str());
  }
}

std::string texts_label(const ViewSettings& settings) {
  const std::string name = std::filesystem::path(settings.statistics_file).filename().string();
  return name.empty() ? "Measure on a file…" : on_screen(name);
}

float texts_width(const Ui& ui, const ViewSettings& settings) {
  return ImGui::CalcTextSize(texts_label(settings).c_str()).x + ui.px(20);
}

bool shows_texts_button(const Ui& ui, const ViewSettings& settings) {
  const bool is_in_use = !settings.statistics_file.empty();
  return view(settings.id).reads(Findings::heads.id) && (!ui.is_simple || is_in_use);
}

// Button that selects the texts on which heads are measured, in the view that sorts heads.
void draw_texts_button(Ui& ui, State& state, const ViewControls& controls) {
  const ViewSettings& settings = state.session->view;
  if (!shows_texts_button(ui, settings)) return;
  ImGui::SameLine(0, ui.px(16));
  const std::string name = std::filesystem::path(settings.statistics_file).filename().string();
  const std::string label = texts_label(settings);
  const float width = texts_width(ui, settings);
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
  // Like the limits on measures, the button has no effect if heads are ordered by layer.
  const auto idle = controls.idle.find("at_least");
  const bool has_effect = idle == controls.idle.end();
  ImGui::BeginDisabled(!has_effect);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), ui.px(3)});  // as high as the strip
  if (button(ui, label.c_str(), "grid.texts")) browse(state, BrowsePurpose::OpenTexts);
  ImGui::PopStyleVar();
  ImGui::EndDisabled();
  std::string help = settings.statistics_file + "\nClick to choose another file.";
  if (name.empty()) {
    help = "Measure the heads on a file of texts separated by blank lines, instead of this text.";
  }
  hint(ui, has_effect ? help : idle->second);
  if (name.empty()) return;
  ImGui::SameLine();
  const FindingTask& heads = state.run.finding_tasks[Findings::heads.id];
  const bool is_running = heads.is_running();
  if (button(ui, is_running ? "Cancel" : "×", "grid.texts.close")) {
    if (is_running) heads.task->cancel();
    state.session.edit().view.statistics_file.clear();
  }
  hint(ui, is_running ? "Stop measuring" : "Measure on this text again");
  if (is_running) {
    ImGui::SameLine();
    ImGui::ProgressBar(static_cast<float>(heads.task->fraction()), {ui.px(90), 0});
  } else if (const std::string problem = heads.problem(); !problem.empty()) {
    ImGui::SameLine();
    ImGui::TextColored(ui.look->error, "%s", on_screen(problem).c_str());
  }
}

}  // namespace

void draw_toolbar(Ui& ui, State& state, ParameterWidgets& widgets, HeadNotes& notes) {
  draw_tabs(ui, state);
  const Index old_layer = state.edited().view.layer, old_head = state.edited().view.head;
  Index layer = old_layer, head = old_head;
  draw_stepper(ui, "Layer", layer, state.layers(), action("layer_back"), action("layer_on"), state,
               layer);
  ImGui::SameLine(0, ui.px(14));
  draw_stepper(ui, "Head", head, state.heads(), action("head_back"), action("head_on"), state, head,
               [&](Index i) { return cached_note(state, old_layer, i, notes); });
  if (layer != old_layer || head != old_head) state.select_head(layer, head);
  draw_part_chooser(ui, state);
  const ViewControls controls = drawn_controls(ui, state);
  // Commands that do not fit in the line of parameters may fit in the line above.
  const std::vector<const Action*> commands = view_actions(state);
  const float commands_width = actions_width(ui, commands), line = ImGui::GetContentRegionMax().x;
  const float left = ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + ui.px(14);
  const ViewSettings& settings = state.session->view;
  const float play = controls.animation ? ui.px(kPlayWidth + 16) : 0;
  const float strip_width =
      parameter_strip_width(ui, controls.parameters, view_values(settings, settings.id)) + play;
  const float free_width = line - left - colours_width(ui, controls);
  const bool is_too_long = strip_width > 0 && strip_width + commands_width > line;
  const bool commands_above = !commands.empty() && is_too_long && commands_width <= free_width;
  const bool play_above = !commands_above && play > 0 && strip_width > line && play <= free_width;
  constexpr double kAbove = 5, kBeside = 3;  // units; heights match the neighbouring items
  if (commands_above) {
    ImGui::SameLine(0, ui.px(14));
    draw_view_actions(ui, state, commands, true, kAbove);
  } else if (play_above) {
    ImGui::SameLine(0, ui.px(14));
    draw_play(ui, state);
  }
  draw_colours(ui, state, controls);
  const float reserved =
      shows_texts_button(ui, settings) ? texts_width(ui, settings) + ui.px(16) : 0;
  draw_view_parameters(ui, state, controls, play_above, reserved, widgets);
  if (!commands_above) {
    draw_view_actions(ui, state, commands, !has_strip(controls, play_above), kBeside);
  }
  draw_texts_button(ui, state, controls);
  for (const char* id : {Findings::errors.id, Findings::replaced.id}) {
    draw_picture_progress(ui, state, id);
  }
}

}  // namespace attnscope::window
