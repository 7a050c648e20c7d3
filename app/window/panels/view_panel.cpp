#include "app/window/panels/view_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "app/window/panels/view_mouse.h"
#include "app/window/panels/view_toolbar.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/no_space.h"

namespace attnscope::window {

namespace {

constexpr double kPlotMargin = 12;  // units around the picture
// On stage letters are large as they are, and the cells need the room: the first size that leaves
// any.
constexpr std::array<double, 4> kStageLabelSizes = {12, 10.5, 9, 7.5};

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

// Of a run that takes long: how much of it is done, as a line along the picture's upper edge, and
// what stands there until then.
void draw_run(Ui& ui, const State& state, ImVec2 at, ImVec2 size) {
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  if (state.busy_seconds > kBusyShown) {
    const float share = std::clamp(static_cast<float>(state.progress.share), 0.0F, 1.0F);
    draw.AddRectFilled(at, {at.x + size.x, at.y + ui.px(3)}, packed(ui.look->line));
    draw.AddRectFilled(at, {at.x + size.x * share, at.y + ui.px(3)}, packed(ui.look->accent));
  }
  // Also after a run that was given up.
  if (state.preview_of == 0 || state.trace == nullptr) return;
  const std::string words = on_screen(
      "Preview: the first " + grouped(static_cast<long long>(state.trace->text_tokens().size())) +
      " of " + grouped(state.preview_of) + " tokens");
  const ImVec2 extent = ImGui::CalcTextSize(words.c_str());
  const ImVec2 corner(at.x + size.x - extent.x - ui.px(16), at.y + ui.px(3));
  draw.AddRectFilled(corner, {at.x + size.x, corner.y + extent.y + ui.px(8)},
                     packed(ui.look->raised), ui.px(4));
  draw.AddText({corner.x + ui.px(8), corner.y + ui.px(4)}, packed(ui.look->accent), words.c_str());
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
                  .findings = key.findings.with(picture.live),
                  .flipped = key.flipped};
  if (key.pointer_x >= 0) input.pointer = Point{key.pointer_x, key.pointer_y};
  const std::shared_ptr<MapPyramid> maps = picture.maps();
  if (maps != nullptr) maps->begin();
  try {
    const View& shown = view(key.view.id);
    if (!state.presenting) picture.layout = shown.lay_out(input);
    for (std::size_t i = 0; state.presenting && i < kStageLabelSizes.size(); ++i) {
      input.font_size = kStageLabelSizes[i];
      picture.layout = shown.lay_out(input);
      if (!lacks_space(picture.layout.refusal)) break;
    }
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

// What is left of the picture of before, over the new one's place.
void draw_before(const Before& before, ImVec2 at, ImVec2 size) {
  if (!(before.share > 0)) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const PixelBox& box = before.box;
  const ImVec2 least(static_cast<float>(box.x), static_cast<float>(box.y));
  const ImVec2 most(static_cast<float>(box.x + box.width), static_cast<float>(box.y + box.height));
  draw.PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
  draw.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(before.texture)), least,
                most, {0, 1}, {1, 0}, packed({1, 1, 1, before.share}));
  draw.PopClipRect();
}

}  // namespace

void draw_view_panel(Ui& ui, State& state, Picture& picture, Painter& painter) {
  if (picture.maps() != nullptr) picture.maps_seen = picture.maps()->version();
  if (state.panels_shown()) draw_toolbar(ui, state, picture.texts);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  picture.box = {};
  if (size.x < 1 || size.y < 1) return;
  picture.box = {static_cast<int>(at.x), static_cast<int>(at.y), static_cast<int>(size.x),
                 static_cast<int>(size.y)};
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
      const bool takes_long = state.busy_seconds > kBusyShown && !state.progress.what.empty();
      draw_message(ui, at, size, "One moment",
                   takes_long ? "The first run is on its way: " + state.progress.what + "."
                              : "The first run is on its way.");
      draw_run(ui, state, at, size);
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
  Picture::Key key{state.pictured_trace(),
                   state.pictured_findings(),
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
  draw_run(ui, state, at, size);
  use_mouse(ui, state, picture.layout, view(state.experiment.view.id));
  draw_before(picture.before, at, size);
  if (state.presenting) draw_stage_pair(ui, state, picture.layout, origin, picture.pairs);
}

}  // namespace attnscope::window
