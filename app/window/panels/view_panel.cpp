#include "app/window/panels/view_panel.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "app/window/actions/actions.h"
#include "app/window/error_text.h"
#include "app/window/model_selection.h"
#include "app/window/panels/view_message.h"
#include "app/window/panels/view_mouse.h"
#include "app/window/panels/view_toolbar.h"
#include "app/window/presentation.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"

namespace attnscope::window {
namespace {

constexpr double kPlotMargin = 12;  // units around the picture

void lay_out(const Ui& ui, const State& state, Picture& picture, const Picture::Key& key) {
  if (picture.key == key && picture.problem.empty()) return;
  picture.key = key;
  picture.problem.clear();
  const SharedSession session = state.pictured_session();
  const ScreenMeasure measure(ui.fonts, ui.scale);
  const Theme& theme = ui.look->theme();
  ViewInput input{.trace = *key.trace,
                  .session = *session,
                  .findings = key.findings.with(picture.live),
                  .canvas = {.width = key.width,
                             .height = key.height,
                             .font_size = kFigureSize,
                             .theme = theme,
                             .measure = measure,
                             .scale = ui.scale},
                  // Presentations show title and caption, unless a lesson has its own text.
                  .figure = {.framed = state.presentation.is_on && state.lesson.lesson == nullptr},
                  .interaction = {.flipped = key.is_flipped,
                                  .adds = key.adds,
                                  .extends = key.extends,
                                  .key_of = key_for},
                  .cache = &picture.cache};
  // The opening moves in Flow block the keys that it would name.
  if (state.tour.is_on && state.session->view.id == "flow") input.interaction.key_of = {};
  if (key.pointer_x >= 0) input.interaction.pointer = Point{key.pointer_x, key.pointer_y};
  const std::shared_ptr<MapPyramid> maps = picture.maps();
  if (maps != nullptr) maps->begin();
  try {
    const View& current_view = view(key.view.id);
    picture.layout = state.presentation.is_on ? lay_out_for_presentation(current_view, input)
                                              : current_view.lay_out(input);
  } catch (const std::exception& e) {
    picture.layout = {};
    picture.problem = error_text(e);
  }
  if (maps == nullptr) return;
  maps->end();
  const MapPyramid::Progress progress = maps->progress();
  std::string& pending = picture.layout.pending;
  if (progress.error) pending = "the map is incomplete: " + error_text(progress.error);
  if (!progress.note.empty()) pending += (pending.empty() ? "" : "; ") + progress.note;
}

// Reports the positions of the handles, for tests.
void report_handles(Ui& ui, const ViewLayout& layout, ImVec2 origin) {
  if (!ui.report.is_on()) return;
  for (std::size_t n = 0; n < layout.handles.size(); ++n) {
    const Box& area = layout.handles[n].area;
    ui.report.box("handle." + std::to_string(n), {static_cast<double>(origin.x) + area.x * ui.scale,
                                                  static_cast<double>(origin.y) + area.y * ui.scale,
                                                  area.width * ui.scale, area.height * ui.scale});
  }
}

// Draws the fading previous picture over the new one.
void draw_previous(const PreviousPicture& previous, ImVec2 origin, ImVec2 size) {
  if (!(previous.opacity > 0)) return;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const PixelBox& box = previous.box;
  const ImVec2 min_corner(static_cast<float>(box.x), static_cast<float>(box.y));
  const ImVec2 max_corner(static_cast<float>(box.x + box.width),
                          static_cast<float>(box.y + box.height));
  draw.PushClipRect(origin, {origin.x + size.x, origin.y + size.y}, true);
  draw.AddImage(reinterpret_cast<ImTextureID>(static_cast<std::intptr_t>(previous.texture)),
                min_corner, max_corner, {0, 1}, {1, 0}, packed({1, 1, 1, previous.opacity}));
  draw.PopClipRect();
}

}  // namespace

void draw_view_panel(Ui& ui, State& state, Picture& picture, Painter& painter) {
  if (picture.maps() != nullptr) picture.shown_maps_version = picture.maps()->version();
  if (state.panels_shown()) {
    draw_toolbar(ui, state, picture.widgets, picture.head_notes);
    if (!state.tour.is_on) draw_salient_pair(ui, state);  // Flow shows the pair
  }
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  picture.box = {};
  if (size.x < 1 || size.y < 1) return;
  picture.box = {static_cast<int>(corner.x), static_cast<int>(corner.y), static_cast<int>(size.x),
                 static_cast<int>(size.y)};
  state.view.pending.clear();
  if (state.run.trace == nullptr) return draw_no_run(ui, state, corner, size);
  const bool has_example_button = offers_example(state);
  if (has_example_button) {
    ImGui::Dummy(size);  // leaves the clicks to the button
  } else {
    invisible_button("picture", size);
  }
  mark(ui, "picture");
  const double margin = kPlotMargin * ui.scale;
  const ImVec2 origin(std::round(corner.x + static_cast<float>(margin)),
                      std::round(corner.y + static_cast<float>(margin)));
  const auto inner_size = [&](float pixels) {
    return std::max(0.0, (static_cast<double>(pixels) - 2 * margin) / ui.scale);
  };
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  state.view.pointer.reset();
  if (ImGui::IsItemHovered() || state.view.held_handle >= 0) {
    state.view.pointer = Point{static_cast<double>(mouse.x - origin.x) / ui.scale,
                               static_cast<double>(mouse.y - origin.y) / ui.scale};
  }
  const bool is_typing = state.text.has_keyboard() || ui.fields.has_keyboard();
  state.view.shift = ImGui::GetIO().KeyShift && !is_typing;
  const std::optional<RunView>& b = state.session->b;
  Picture::Key key{state.pictured_trace(),
                   state.pictured_findings(),
                   state.session->view,
                   b ? b->view : ViewSettings(),
                   inner_size(size.x),
                   inner_size(size.y),
                   ui.scale,
                   ui.look->dark,
                   state.presentation.is_on};
  key.interventions = state.session->run.interventions;
  key.is_flipped = state.view.shift && b;
  key.extends = state.view.shift && !b;
  key.adds = ImGui::GetIO().KeyCtrl && !is_typing;
  if (state.view.pointer) {
    key.pointer_x = state.view.pointer->x;
    key.pointer_y = state.view.pointer->y;
  }
  key.maps = picture.shown_maps_version;
  lay_out(ui, state, picture, key);
  state.view.pending = picture.layout.pending;
  if (!picture.problem.empty()) {
    draw_message(ui, corner, size, "Cannot draw this view", picture.problem);
    return;
  }
  painter.paint(picture.layout.list, *ImGui::GetWindowDrawList(), origin, ui.scale, ui.fonts);
  report_handles(ui, picture.layout, origin);
  draw_run(ui, state, corner, size);
  if (has_example_button) {
    draw_example_button(ui, state, picture.layout, origin);
  } else {
    use_mouse(ui, state, picture.layout, view(state.session->view.id));
  }
  draw_previous(picture.previous, corner, size);
  if (state.presentation.is_on) draw_stage_pair(ui, state, picture.layout, origin, picture.pairs);
}

}  // namespace attnscope::window
