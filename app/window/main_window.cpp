#include "app/window/main_window.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "app/window/dialogs/dialogs.h"
#include "app/window/panels/chrome.h"
#include "app/window/panels/intervention_panel.h"
#include "app/window/panels/text_panel.h"
#include "app/window/panels/tour_band.h"

namespace attnscope::window {
namespace {

constexpr double kStatusHeight = 30;  // units
// Widths in units. In narrow windows the side panels shrink first, then the right one is hidden.
constexpr double kMinPictureWidth = 540, kMinSideWidth = 200;

constexpr ImGuiWindowFlags kFixedWindow = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                          ImGuiWindowFlags_NoSavedSettings |
                                          ImGuiWindowFlags_NoBringToFrontOnFocus;

void begin_panel(Ui& ui, const char* id, float width, float height) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(14), ui.px(12)});
  begin_padded_child(id, {width, height});
  ImGui::PopStyleVar();
}

void draw_left_panel(Ui& ui, State& state, Panels& panels, float width, float height) {
  begin_panel(ui, "left", width, height);
  draw_edited_switch(ui, state);
  const float top = ImGui::GetCursorScreenPos().y;
  draw_text_panel(ui, state);
  outline_move(ui, state, TourMove::Change, top, ImGui::GetCursorScreenPos().y);
  draw_tokens(ui, state);
  draw_intervention_panel(ui, state);
  draw_model_panel(ui, state, panels.model);
  ImGui::EndChild();
}

void draw_centre(Ui& ui, State& state, Panels& panels, Painter& painter, float width,
                 float height) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float tour_height = tour_band_height(ui, state, width);
  height -= tour_height;
  const LessonPlace lesson = lesson_place(ui, state, panels.lesson, width, height);
  // The lesson's band is outside the picture.
  const ImVec2 end(origin.x + width - (lesson.is_beside ? lesson.width : 0),
                   origin.y + height - (lesson.is_beside ? 0 : lesson.height));
  ImGui::BeginGroup();
  painter.fill(*ImGui::GetWindowDrawList(), origin, end, packed(ui.look->page));
  begin_panel(ui, "middle", end.x - origin.x, end.y - origin.y);
  if (!state.presentation.is_on) draw_autosave_offer(ui, state);
  draw_view_panel(ui, state, panels.picture, painter);
  ImGui::EndChild();
  mark(ui, "middle");
  if (lesson.height > 0) {
    const ImVec2 corner = lesson.is_beside ? ImVec2(end.x, origin.y) : ImVec2(origin.x, end.y);
    ImGui::SetCursorScreenPos(corner);
    draw_lesson_band(ui, state, panels.lesson, *panels.steps, lesson);
    const ImVec2 line =
        lesson.is_beside ? ImVec2(end.x + ui.px(1), end.y) : ImVec2(end.x, end.y + ui.px(1));
    ImGui::GetWindowDrawList()->AddRectFilled(corner, line, packed(ui.look->line));
  }
  if (tour_height > 0) {
    ImGui::SetCursorScreenPos({origin.x, origin.y + height});
    draw_tour_band(ui, state, width, tour_height);
  }
  ImGui::EndGroup();
}

void draw_columns(Ui& ui, State& state, Panels& panels, Painter& painter, float height) {
  const float total_width = ImGui::GetContentRegionAvail().x;
  if (!state.panels_shown()) {
    draw_centre(ui, state, panels, painter, total_width, height);
    return;
  }
  Settings& s = state.settings;
  const float bar = ui.px(5), min_picture = ui.px(kMinPictureWidth),
              min_side = ui.px(kMinSideWidth);
  const bool has_right = total_width >= min_picture + 2 * (min_side + bar);
  const float preferred_width = ui.px(s.left_width) + (has_right ? ui.px(s.right_width) : 0);
  const float free_width = total_width - min_picture - (has_right ? 2 : 1) * bar;
  const auto panel_width = [&](double width) {
    return std::max(std::min(ui.px(width), min_side),
                    ui.px(width) * std::min(1.0F, free_width / preferred_width));
  };
  const float left = panel_width(s.left_width), right = has_right ? panel_width(s.right_width) : 0;
  draw_left_panel(ui, state, panels, left, height);
  ImGui::SameLine(0, 0);
  draw_splitter(ui, "splitter.left", s.left_width, 1, height);
  ImGui::SameLine(0, 0);
  if (!has_right) {
    draw_centre(ui, state, panels, painter, total_width - left - bar, height);
    return;
  }
  draw_centre(ui, state, panels, painter, total_width - left - right - 2 * bar, height);
  ImGui::SameLine(0, 0);
  draw_splitter(ui, "splitter.right", s.right_width, -1, height);
  ImGui::SameLine(0, 0);
  begin_panel(ui, "right", right, height);
  draw_explain_panel(ui, state, panels.weights);
  ImGui::EndChild();
}

void draw_status_bar(Ui& ui, State& state) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::GetWindowDrawList()->AddRectFilled(origin, {origin.x + width, origin.y + ui.px(1)},
                                            packed(ui.look->line));
  ImGui::SetCursorScreenPos({origin.x + ui.px(14), origin.y + ui.px(8)});
  draw_status_line(ui, state);
}

// Draws a ring around the pointer that an audience sees from the last row.
void highlight_pointer(const Ui& ui) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsMousePosValid(&io.MousePos)) return;
  ImDrawList& draw = *ImGui::GetForegroundDrawList();
  draw.AddCircleFilled(io.MousePos, ui.px(20), packed(ui.look->accent, 0.22F));
  draw.AddCircle(io.MousePos, ui.px(20), packed(ui.look->accent), 0, ui.px(2.5));
}

// Progress or error in a corner of the presentation, which has no status line.
void draw_presentation_status(Ui& ui, const RunState& run) {
  const bool is_running = run.busy_seconds > kLongRunSeconds;
  if (!is_running && run.error.empty()) return;
  std::array<char, 32> seconds;
  std::snprintf(seconds.data(), seconds.size(), "Running, %.1f s", run.busy_seconds);
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  const std::string label =
      elide(on_screen(is_running ? seconds.data() : run.error), 0.9F * screen.Size.x);
  const ImVec2 extent = ImGui::CalcTextSize(label.c_str()), padding(ui.px(10), ui.px(6));
  const float margin = ui.px(12);
  const ImVec2 min_corner(margin, screen.Size.y - margin - extent.y - 2 * padding.y);
  const ImVec2 max_corner(min_corner.x + extent.x + 2 * padding.x, screen.Size.y - margin);
  ImDrawList& draw = *ImGui::GetForegroundDrawList();
  draw.AddRectFilled(min_corner, max_corner, packed(ui.look->raised), ui.px(6));
  draw.AddText({min_corner.x + padding.x, min_corner.y + padding.y},
               packed(is_running ? ui.look->text : ui.look->error), label.c_str());
  ui.report.box("stage.sign", {min_corner.x, min_corner.y, max_corner.x - min_corner.x,
                               max_corner.y - min_corner.y});
}

void draw_presentation_overlays(Ui& ui, State& state) {
  if (state.presentation.is_black) {
    const ImGuiViewport& screen = *ImGui::GetMainViewport();
    ImGui::GetForegroundDrawList()->AddRectFilled(
        screen.Pos, {screen.Pos.x + screen.Size.x, screen.Pos.y + screen.Size.y}, IM_COL32_BLACK);
  } else {
    draw_presentation_status(ui, state.run);
    highlight_pointer(ui);
  }
}

}  // namespace

void draw_main_window(Ui& ui, State& state, Panels& panels, Painter& painter) {
  close_popup_on_escape(ui);
  if (shows_tour(state) && take_key(ui, "Escape")) finish_tour(state);
  const std::string& view = state.session->view.id;
  // Closes lists opened from the previous view's toolbar.
  if (std::exchange(panels.view, view) != view) close_popups();
  if (state.panels_shown()) draw_menu_bar(ui, state);
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.WorkPos);
  ImGui::SetNextWindowSize(screen.WorkSize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  // The frame is already cleared in this colour.
  ImGui::Begin("##main", nullptr, kFixedWindow | ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar(3);
  const float status_height = state.presentation.is_on ? 0 : ui.px(kStatusHeight);
  const float height = std::max(ImGui::GetContentRegionAvail().y - status_height, ui.px(60));
  const ImVec2 top = ImGui::GetCursorScreenPos();
  draw_columns(ui, state, panels, painter, height);
  if (!state.presentation.is_on) {
    ImGui::SetCursorScreenPos({top.x, top.y + height});
    draw_status_bar(ui, state);
  }
  ImGui::End();

  draw_notices(ui, state.notices);
  draw_file_browser(ui, state);
  draw_export_dialog(ui, state, painter);
  draw_palette(ui, state, panels.model.models);
  draw_help(ui, state.dialogs.help_open);
  draw_about(ui, state.dialogs.about_open, state.gpu);
  draw_documentation(ui, state.dialogs.documentation);
  draw_lesson_list(ui, state);
  draw_cost_dialog(ui, state, painter);
  draw_calibration_dialog(ui, state, panels.calibration, painter);
  draw_extrapolation_dialog(ui, state, painter);
  draw_training_dialog(ui, state, painter);
  draw_study_dialog(ui, state, painter);
  if (state.presentation.is_on) draw_presentation_overlays(ui, state);
}

}  // namespace attnscope::window
