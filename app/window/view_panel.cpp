#include "app/window/view_panel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "app/window/actions.h"
#include "app/window/files.h"
#include "app/window/head_job.h"
#include "app/window/navigation.h"
#include "app/window/parameter_panel.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"

namespace attnscope::window {

namespace {

constexpr double kWheelStep = 1.15;
constexpr double kCellSize = 24;    // units, at "actual size"
constexpr double kPlotMargin = 12;  // units around the picture
constexpr double kNarrow = 600;     // units: a window in which controls are smaller
constexpr float kClickPixels = 4;   // a press that moved less is a click

std::string key_of(const Action& a) {
  return a.shortcuts.empty() ? "" : "  (" + to_string(a.shortcuts.front()) + ")";
}

// `padding`: units left and right of the label.
void draw_tab(Ui& ui, State& state, const View& view, double padding) {
  const Action& open = action("view." + view.id);
  const bool chosen = state.experiment.view.id == view.id;
  ImGui::PushFont(chosen ? ui.fonts.bold : ui.fonts.body);
  const ImVec2 extent = ImGui::CalcTextSize(view.label.c_str());
  const ImVec2 size(extent.x + 2 * ui.px(padding), extent.y + ui.px(13));
  if (ImGui::GetContentRegionAvail().x < size.x) ImGui::NewLine();  // as many lines as it takes
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton(open.id.c_str(), size)) open.run(state);
  mark(ui, open.id);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const bool hovered = ImGui::IsItemHovered();
  const ImVec4& colour = chosen ? ui.look->accent : (hovered ? ui.look->text : ui.look->faint);
  draw.AddText({at.x + ui.px(padding), at.y + ui.px(6)}, packed(colour), view.label.c_str());
  if (chosen) {
    draw.AddRectFilled({at.x + ui.px(padding - 3), at.y + size.y - ui.px(3)},
                       {at.x + size.x - ui.px(padding - 3), at.y + size.y}, packed(ui.look->accent),
                       ui.px(1.5));
  }
  ImGui::PopFont();
  hint(ui, view.summary + key_of(open));
}

// As wide as they like, or as narrow as one line takes; else in two.
void draw_tabs(Ui& ui, State& state) {
  constexpr double kLeastPadding = 3.5, kTwoLines = 6, kMostPadding = 11;  // units
  float spare = ImGui::GetContentRegionAvail().x - ui.px(1);
  for (const View& v : views()) {
    ImGui::PushFont(v.id == state.experiment.view.id ? ui.fonts.bold : ui.fonts.body);
    spare -= ImGui::CalcTextSize(v.label.c_str()).x;
    ImGui::PopFont();
  }
  const double fitting =
      static_cast<double>(spare / ui.px(1)) / 2 / static_cast<double>(views().size());
  const double padding = fitting < kLeastPadding ? kTwoLines : std::min(fitting, kMostPadding);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (const View& v : views()) {
    draw_tab(ui, state, v, padding);
    ImGui::SameLine(0, 0);
  }
  ImGui::NewLine();
  ImGui::PopStyleVar();
  ImGui::Dummy({0, ui.px(2)});
}

// "‹ Layer 2 ›": arrows run actions, the middle drops down a list. Numbers from 0, as on the
// command line.
void draw_stepper(Ui& ui, const char* what, Index now, Index count, const Action& back,
                  const Action& on, State& state, Index& chosen) {
  const std::string refusal = on.refusal(state);
  ImGui::PushID(what);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(2), ImGui::GetStyle().ItemSpacing.y});
  ImGui::BeginDisabled(!back.enabled(state));
  if (button(ui, "‹", back.id)) back.run(state);
  hint(ui, help_of(back, state) + key_of(back));
  ImGui::EndDisabled();
  ImGui::SameLine();
  const std::string text = std::string(what) + " " + std::to_string(now);
  // Narrower in small windows, so that the colours stay on the same line.
  const bool narrow = ImGui::GetWindowWidth() < ui.px(kNarrow);
  ImGui::BeginDisabled(!refusal.empty());
  if (button(ui, text.c_str(), what, false, ui.px(narrow ? 62 : 88))) ImGui::OpenPopup("list");
  ImGui::EndDisabled();
  hint(ui, refusal);
  ImGui::SameLine();
  ImGui::BeginDisabled(!on.enabled(state));
  if (button(ui, "›", on.id)) on.run(state);
  hint(ui, help_of(on, state) + key_of(on));
  ImGui::EndDisabled();
  ImGui::PopStyleVar();
  if (ImGui::BeginPopup("list")) {
    for (Index i = 0; i < count; ++i) {
      const std::string entry = std::string(what) + " " + std::to_string(i);
      if (ImGui::Selectable(entry.c_str(), i == now)) chosen = i;
      mark(ui, std::string(what) + "." + std::to_string(i));
    }
    ImGui::EndPopup();
  }
  ImGui::PopID();
}

void draw_colour_maps(Ui& ui, State& state, const ViewControls& controls) {
  const ColourMap& now = shown_map(controls, state.experiment.view.colour_map);
  ImGui::SetNextItemWidth(ui.px(110));
  const bool open = ImGui::BeginCombo("##colours", now.label.c_str());
  mark(ui, "colour_map");
  if (!open) hint(ui, "Colours of the heat map" + key_of(action("colour_map")));
  if (open) {
    for (const ColourMap* map : offered_maps(controls)) {
      if (ImGui::Selectable(map->label.c_str(), map == &now)) {
        state.experiment.view.colour_map = map->id;
      }
      mark(ui, "colour_map." + map->id);
    }
    ImGui::EndCombo();
  }
}

// Where they have an effect, at the right end of the line where there is room.
void draw_colours(Ui& ui, State& state, const ViewControls& controls) {
  const bool chooses = controls.colours != ViewControls::Colours::None;
  if (!chooses && !controls.normalise) return;
  const float right = ui.px(110) + ImGui::CalcTextSize("Normalise").x + ImGui::GetFrameHeight() +
                      3 * ImGui::GetStyle().ItemSpacing.x;
  const float at = ImGui::GetContentRegionMax().x - right;
  if (at > ImGui::GetItemRectMax().x - ImGui::GetWindowPos().x + ui.px(14)) ImGui::SameLine(at);
  if (chooses) draw_colour_maps(ui, state, controls);
  if (!controls.normalise) return;
  if (chooses) ImGui::SameLine();
  const Action& normalise = action("normalise");
  bool on = state.experiment.view.normalise;
  if (ImGui::Checkbox("Normalise", &on)) normalise.run(state);
  mark(ui, "normalise");
  hint(ui, normalise.help + key_of(normalise));
}

// What can be set in this view alone.
void draw_view_parameters(Ui& ui, State& state, const ViewControls& controls, ListTexts& texts) {
  ViewSettings& settings = state.experiment.view;
  const View& v = view(settings.id);
  if (v.parameters.empty()) return;
  Values values = view_values(settings, v.id);
  if (v.animation) {
    const Action& play = action("play");
    ImGui::BeginDisabled(!play.enabled(state));
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {ui.px(10), ui.px(3)});  // as low as what follows
    if (button(ui, state.view.play.on ? "Stop" : "Play", play.id, false, ui.px(64))) {
      play.run(state);
    }
    ImGui::PopStyleVar();
    ImGui::EndDisabled();
    hint(ui, play.help + key_of(play));
    ImGui::SameLine(0, ui.px(16));
  }
  if (draw_parameter_strip(ui, v.id, controls.parameters, controls.idle, values, texts)) {
    set_view_values(settings, v.id, values);
  }
}

// The commands that belong to this view, as buttons.
void draw_view_actions(Ui& ui, State& state) {
  bool first = view(state.experiment.view.id).parameters.empty();
  // As low as the parameters beside them.
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(10), ui.px(3)});
  for (const Action& a : actions()) {
    if (a.view != state.experiment.view.id) continue;
    const float width = ImGui::CalcTextSize(a.label.c_str()).x + ui.px(24);
    if (!first) ImGui::SameLine(0, ui.px(8));
    if (!first && ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
    first = false;
    ImGui::BeginDisabled(!a.enabled(state));
    const bool on = a.checked && a.checked(state);
    if (button(ui, a.label.c_str(), a.id, on)) a.run(state);
    ImGui::EndDisabled();
    hint(ui, help_of(a, state) + key_of(a));
  }
  ImGui::PopStyleVar();
}

// Over which texts heads are measured, in the view that sorts by it.
void draw_measured_texts(Ui& ui, State& state, const ViewControls& controls) {
  ViewSettings& settings = state.experiment.view;
  if (!sorts_heads(settings)) return;
  ImGui::SameLine(0, ui.px(16));
  const std::string name = std::filesystem::path(settings.statistics_file).filename().string();
  const std::string label = name.empty() ? "Over a file…" : on_screen(name);
  const float width = ImGui::CalcTextSize(label.c_str()).x + 3 * ui.px(12);
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
  // As idle as the limits: there is nothing to measure in the order of layers.
  const auto idle = controls.idle.find("at_least");
  const bool measures = idle == controls.idle.end();
  ImGui::BeginDisabled(!measures);
  if (button(ui, label.c_str(), "grid.texts")) browse(state, BrowsePurpose::OpenTexts);
  ImGui::EndDisabled();
  std::string help = settings.statistics_file + "\nClick for another file.";
  if (name.empty()) {
    help = "Measure the heads over a file of texts, parted by blank lines, in place of this text.";
  }
  hint(ui, measures ? help : idle->second);
  if (name.empty()) return;
  ImGui::SameLine();
  const bool running = state.measuring.running;
  if (button(ui, running ? "Cancel" : "×", "grid.texts.close")) {
    if (running) state.wishes.cancel_measuring = true;
    settings.statistics_file.clear();
  }
  hint(ui, running ? "Stop measuring." : "Measure over this text again.");
  if (running) {
    ImGui::SameLine();
    ImGui::ProgressBar(static_cast<float>(state.measuring.share), {ui.px(90), 0});
  } else if (!state.measuring.problem.empty()) {
    ImGui::SameLine();
    ImGui::TextColored(ui.look->error, "%s", on_screen(state.measuring.problem).c_str());
  }
}

void draw_toolbar(Ui& ui, State& state, ListTexts& texts) {
  draw_tabs(ui, state);
  const Index layer_now = state.edited().view.layer, head_now = state.edited().view.head;
  Index layer = layer_now, head = head_now;
  draw_stepper(ui, "Layer", layer, state.layers(), action("layer_back"), action("layer_on"), state,
               layer);
  ImGui::SameLine(0, ui.px(14));
  draw_stepper(ui, "Head", head, state.heads(), action("head_back"), action("head_on"), state,
               head);
  if (layer != layer_now || head != head_now) state.look_at(layer, head);
  const ViewControls controls = state.controls();
  draw_colours(ui, state, controls);
  draw_view_parameters(ui, state, controls, texts);
  draw_view_actions(ui, state);
  draw_measured_texts(ui, state, controls);
}

// A message in the middle of the picture's place: what to do, or what went wrong.
void draw_message(Ui& ui, ImVec2 at, ImVec2 size, const std::string& title,
                  const std::string& text) {
  const float width = std::min(size.x - ui.px(40), ui.px(460));
  const std::string shown = on_screen(text);
  ImGui::PushFont(ui.fonts.title);
  const ImVec2 title_size = ImGui::CalcTextSize(title.c_str());
  ImGui::PopFont();
  const ImVec2 extent = ImGui::CalcTextSize(shown.c_str(), nullptr, false, width);
  float y = at.y + (size.y - extent.y - title_size.y - ui.px(8)) / 2;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddText(ui.fonts.title, title_size.y, {at.x + (size.x - title_size.x) / 2, y},
               packed(ui.look->text), title.c_str());
  y += title_size.y + ui.px(8);
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(),
               {at.x + (size.x - std::min(extent.x, width)) / 2, y}, packed(ui.look->faint),
               shown.c_str(), nullptr, width);
}

void lay_out(const Ui& ui, const State& state, Picture& picture, const Picture::Key& key) {
  if (picture.key == key && picture.problem.empty()) return;
  picture.key = key;
  picture.problem.clear();
  const Experiment experiment = state.pictured_experiment();
  const ScreenMeasure measure(ui.fonts, ui.scale);
  const Theme& theme = ui.look->theme();
  ViewInput input{.trace = *key.trace,
                  .experiment = experiment,
                  .width = key.width,
                  .height = key.height,
                  .font_size = kBodySize,
                  .theme = theme,
                  .measure = measure,
                  // The audience has no panels to read from; a lesson has words of its own.
                  .framed = state.presenting && state.lesson.lesson == nullptr,
                  .pointer = {},
                  .cache = &picture.cache,
                  .scale = ui.scale,
                  .reference = key.reference.get(),
                  .flipped = key.flipped,
                  .heads = key.heads.get()};
  if (key.pointer_x >= 0) input.pointer = Point{key.pointer_x, key.pointer_y};
  MapPyramid* const maps = picture.cache.maps();
  if (maps != nullptr) maps->begin();
  try {
    picture.layout = view(key.view.id).lay_out(input);
  } catch (const std::exception& e) {
    picture.layout = {};
    picture.problem = e.what();
  }
  if (maps == nullptr) return;
  maps->end();
  const MapPyramid::Progress progress = maps->progress();
  std::string& pending = picture.layout.pending;
  if (!progress.error.empty()) pending = "the map is incomplete: " + progress.error;
  if (!progress.note.empty()) pending += (pending.empty() ? "" : "; ") + progress.note;
}

bool has_cells(const ViewLayout& layout) {
  return layout.width > 0 && layout.height > 0 && layout.plot.width > 0 && layout.plot.height > 0;
}

// What the mouse does to a picture that shows cells of a matrix.
void pan_and_zoom(State& state, const ViewLayout& layout, double scale, bool hovered, bool held) {
  const AttentionTap* tap = state.tap();
  if (tap == nullptr || !has_cells(layout)) return;
  const Cells seen{layout.row, layout.column, layout.height, layout.width};
  const Index rows = layout.rows > 0 ? layout.rows : tap->queries();
  const Index columns = layout.columns > 0 ? layout.columns : tap->keys();
  const ImGuiIO& io = ImGui::GetIO();
  ViewSettings& view = state.experiment.view;
  if (state.view.actual_size) {
    const double factor = seen.width / (layout.plot.width / kCellSize);
    show(view, zoomed(seen, factor, seen.row, seen.column, rows, columns), rows, columns);
    state.view.actual_size = false;
  }
  const std::optional<Point>& p = state.view.pointer;
  if (hovered && p && io.MouseWheel != 0 && layout.plot.contains(*p)) {
    const double across = (p->x - layout.plot.x) / layout.plot.width;
    const double down = (p->y - layout.plot.y) / layout.plot.height;
    const double row = seen.row + seen.height * (layout.rows_run_down ? down : across);
    const double column = seen.column + seen.width * (layout.columns_run_across ? across : down);
    const double factor = std::pow(kWheelStep, static_cast<double>(io.MouseWheel));
    show(view, zoomed(seen, factor, row, column, rows, columns), rows, columns);
  }
  if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels)) {
    state.view.panning = true;
    const double down = -static_cast<double>(io.MouseDelta.y) / scale / layout.plot.height;
    const double across = -static_cast<double>(io.MouseDelta.x) / scale / layout.plot.width;
    show(view,
         panned(seen, seen.height * (layout.rows_run_down ? down : across),
                seen.width * (layout.columns_run_across ? across : down), rows, columns),
         rows, columns);
  }
}

// A click on a picture of many maps opens one of them.
void open_clicked(State& state) {
  const std::optional<Hit>& hit = state.view.hit;
  if (!hit || hit->query >= 0 || hit->key >= 0) return;
  ViewSettings& view = state.experiment.view;
  state.look_at(hit->layer, hit->head);
  view.id = views().front().id;
  show_all(view);
}

// Where the handles are, for tests.
void report_handles(Ui& ui, const ViewLayout& layout, ImVec2 origin) {
  if (!ui.report.on()) return;
  for (std::size_t n = 0; n < layout.handles.size(); ++n) {
    const Box& area = layout.handles[n].area;
    ui.report.box("handle." + std::to_string(n), {static_cast<double>(origin.x) + area.x * ui.scale,
                                                  static_cast<double>(origin.y) + area.y * ui.scale,
                                                  area.width * ui.scale, area.height * ui.scale});
  }
}

// The handle under the pointer; -1: none.
int handle_at(const ViewLayout& layout, const std::optional<Point>& pointer) {
  if (!pointer) return -1;
  for (int i = static_cast<int>(layout.handles.size()) - 1; i >= 0; --i) {
    if (layout.handles[static_cast<std::size_t>(i)].area.contains(*pointer)) return i;
  }
  return -1;
}

// What the mouse is busy with: clicks leave panning and zooming free, drags do not.
enum class HandleUse { None, Click, Drag };

// Dragging and clicking of what the view offers for it.
HandleUse use_handles(const Ui& ui, State& state, const ViewLayout& layout, bool hovered,
                      bool held) {
  ViewPanel& panel = state.view;
  const int under = hovered ? handle_at(layout, panel.pointer) : -1;
  if (panel.held_handle < 0 && under >= 0 && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    panel.held_handle = under;
    panel.handle_moved = false;
  }
  if (panel.held_handle >= static_cast<int>(layout.handles.size())) panel.held_handle = -1;
  if (panel.held_handle < 0) {
    if (under >= 0) {
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      hint(ui, layout.handles[static_cast<std::size_t>(under)].help);
    }
    if (under < 0) return HandleUse::None;
    return layout.handles[static_cast<std::size_t>(under)].drag ? HandleUse::Drag
                                                                : HandleUse::Click;
  }
  const Handle& handle = layout.handles[static_cast<std::size_t>(panel.held_handle)];
  panel.handle_moved |= ImGui::IsMouseDragging(ImGuiMouseButton_Left, kClickPixels);
  if (held && panel.handle_moved && handle.drag && panel.pointer) {
    handle.drag(*panel.pointer, state.experiment);
  }
  const HandleUse use = handle.drag ? HandleUse::Drag : HandleUse::Click;
  if (!held) {
    if (!panel.handle_moved && handle.click) handle.click(state.experiment);
    panel.held_handle = -1;
  }
  return use;
}

// What the pointer is on: a pair, or the label of a row or a column.
std::optional<Hit> hit_at(const State& state, const ViewLayout& layout, Point p) {
  std::optional<Hit> hit = layout.hit(p);
  const AttentionTap* tap = state.tap();
  // Other rows or columns than the queries and keys are not for pins.
  if (hit || tap == nullptr || state.shows_other()) return hit;
  const auto label = label_at(layout, p, layout.rows > 0 ? 0 : tap->queries(),
                              layout.columns > 0 ? 0 : tap->keys());
  if (!label) return hit;
  const ViewSettings& view = state.experiment.view;
  return Hit{view.layer, view.head, label->row, label->column};
}

// A click with the right button pins what is under the pointer, a pair or a row or column by its
// label, or lets go of it.
void use_pin(State& state, bool hovered) {
  if (!hovered || !state.view.pointer || !ImGui::IsMouseClicked(ImGuiMouseButton_Right)) return;
  ViewSettings& view = state.experiment.view;
  const Hit hit = state.view.hit.value_or(Hit{});
  if (hit.of_reference && state.reference->tokens.size() != state.trace->tokens.size()) return;
  const std::optional<Point> before = std::exchange(state.view.pinned_at, state.view.pointer);
  // A pin takes room, so that something else may lie under a pointer that has not moved.
  const bool still = before && std::hypot(before->x - state.view.pointer->x,
                                          before->y - state.view.pointer->y) < kClickPixels;
  const bool pinned = view.pinned_query >= 0 || view.pinned_key >= 0;
  const bool same = hit.query == view.pinned_query && hit.key == view.pinned_key;
  const bool lets_go = same || (still && pinned);
  view.pinned_query = lets_go ? -1 : hit.query;
  view.pinned_key = lets_go ? -1 : hit.key;
}

void use_mouse(Ui& ui, State& state, const ViewLayout& layout, const View& view) {
  const bool hovered = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  state.view.hit.reset();
  if (hovered && state.view.pointer && layout.hit) {
    state.view.hit = hit_at(state, layout, *state.view.pointer);
  }
  if (state.shows_other()) {  // a look at B: what is done here is done to A
    if (state.view.hit) state.view.hit->of_reference = true;
    return;
  }
  use_pin(state, hovered);
  const HandleUse use = use_handles(ui, state, layout, hovered, held);
  if (use == HandleUse::Drag) return;
  if (view.zooms) pan_and_zoom(state, layout, ui.scale, hovered, held);
  if (!held) state.view.panning = false;
  if (use == HandleUse::Click) return;
  if (hovered && view.zooms && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    action("fit").run(state);
  }
  if (hovered && !view.zooms && !has_cells(layout) &&
      ImGui::IsMouseReleased(ImGuiMouseButton_Left) && !state.view.panning) {
    open_clicked(state);
  }
  if (!held) state.view.panning = false;
  if (state.view.panning) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

}  // namespace

void draw_view_panel(Ui& ui, State& state, Picture& picture, Painter& painter) {
  if (picture.cache.maps() != nullptr) picture.maps_seen = picture.cache.maps()->version();
  if (state.panels_shown()) draw_toolbar(ui, state, picture.texts);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (size.x < 1 || size.y < 1) return;
  ImGui::InvisibleButton("picture", size);
  mark(ui, "picture");
  state.view.pending.clear();
  if (state.trace == nullptr) {
    if (!state.error.empty()) {
      draw_message(ui, at, size, "No picture",
                   state.error + "\n\nChange what is set on the left, or undo (Ctrl+Z).");
    } else if (!state.experiment.has_input()) {
      draw_message(ui, at, size, "Type a text", "Its attention appears here.");
    } else {
      draw_message(ui, at, size, "One moment", "The first run is on its way.");
    }
    return;
  }
  const double margin = kPlotMargin * ui.scale;
  const ImVec2 origin(std::round(at.x + static_cast<float>(margin)),
                      std::round(at.y + static_cast<float>(margin)));
  const auto inner = [&](float pixels) {
    return std::max(0.0, (static_cast<double>(pixels) - 2 * margin) / ui.scale);
  };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  state.view.pointer.reset();
  if (ImGui::IsItemHovered() || state.view.held_handle >= 0) {
    state.view.pointer = Point{static_cast<double>(mouse.x - origin.x) / ui.scale,
                               static_cast<double>(mouse.y - origin.y) / ui.scale};
  }
  const bool typing = state.text.focused || ImGui::GetIO().WantTextInput;
  state.view.shift = ImGui::GetIO().KeyShift && !typing;
  const std::vector<Experiment>& others = state.experiment.others;
  const bool other = state.shows_other();
  Picture::Key key{state.pictured_trace(),
                   other ? nullptr : state.reference,
                   other ? nullptr : state.measured,
                   state.experiment.view,
                   others.empty() ? ViewSettings() : others.front().view,
                   inner(size.x),
                   inner(size.y),
                   ui.scale,
                   ui.look->dark,
                   state.presenting};
  key.interventions = state.experiment.interventions;
  key.flipped = state.view.shift && !others.empty();
  if (state.view.pointer) {
    key.pointer_x = state.view.pointer->x;
    key.pointer_y = state.view.pointer->y;
  }
  key.maps = picture.maps_seen;
  lay_out(ui, state, picture, key);
  state.view.pending = picture.layout.pending;
  if (!picture.problem.empty()) {
    draw_message(ui, at, size, "No picture", picture.problem);
    return;
  }
  painter.paint(picture.layout.list, *ImGui::GetWindowDrawList(), origin, ui.scale, ui.fonts);
  report_handles(ui, picture.layout, origin);
  use_mouse(ui, state, picture.layout, view(state.experiment.view.id));
}

}  // namespace attnscope::window
