#include "app/window/dialogs.h"
#include "core/lesson/lesson.h"

namespace attnscope::window {

void draw_lesson_list(Ui& ui, State& state) {
  if (!begin_dialog(ui, "Lessons", state.lesson.list_open, 620, 560)) return;
  LessonState& now = state.lesson;
  if (now.all.empty() && now.problem.empty()) {
    try {
      now.all = bundled_lessons();
    } catch (const std::exception& e) {
      now.problem = e.what();
    }
  }
  if (!now.problem.empty()) paragraph(ui, now.problem);
  ImGui::BeginChild("list", {0, 0});
  for (const Lesson& lesson : now.all) {
    ImGui::PushID(lesson.id.c_str());
    const ImVec2 at = ImGui::GetCursorPos();
    const float wrap = ImGui::GetContentRegionAvail().x - ui.px(24);
    const ImVec2 extent = ImGui::CalcTextSize(lesson.summary.c_str(), nullptr, false, wrap);
    const float height = extent.y + ImGui::GetTextLineHeight() + ui.px(22);
    if (ImGui::Selectable("##open", false, 0, {0, height})) start_lesson(state, lesson);
    mark(ui, "lesson." + lesson.id);
    ImGui::SetCursorPos({at.x + ui.px(10), at.y + ui.px(7)});
    ImGui::BeginGroup();
    ImGui::PushFont(ui.fonts.bold);
    ImGui::TextUnformatted(lesson.title.c_str());
    ImGui::PopFont();
    ImGui::SameLine();
    ImGui::TextColored(ui.look->faint, "%zu steps", lesson.steps.size());
    ImGui::PushTextWrapPos(at.x + ui.px(10) + wrap);
    ImGui::TextColored(ui.look->faint, "%s", lesson.summary.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    ImGui::SetCursorPos({at.x, at.y + height + ui.px(4)});
    ImGui::PopID();
  }
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
