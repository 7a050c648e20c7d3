#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "core/lesson/lesson.h"

namespace attnscope::window {
namespace {

// Selects the running lesson at first; arrow keys change the row. True if the selection changed.
bool select_by_keys(Ui& ui, const LessonState& state, int& row, bool is_appearing) {
  const int previous_row = row;
  if (is_appearing) {
    const auto it =
        std::ranges::find(state.lessons, state.lesson ? state.lesson->id : "", &Lesson::id);
    row = it != state.lessons.end() ? static_cast<int>(it - state.lessons.begin()) : 0;
  }
  if (take_key(ui, "Down")) ++row;
  if (take_key(ui, "Up")) --row;
  row = std::clamp(row, 0, std::max(static_cast<int>(state.lessons.size()) - 1, 0));
  return is_appearing || row != previous_row;
}

}  // namespace

void draw_lesson_list(Ui& ui, State& state) {
  LessonList& dialog = state.dialogs.lessons;
  if (!begin_dialog(ui, "Lessons", dialog.open, 620, 560)) return;
  LessonState& lessons = state.lesson;
  read_lessons(lessons);
  if (!lessons.problem.empty()) paragraph(ui, lessons.problem);
  const bool has_moved = select_by_keys(ui, lessons, dialog.row, ImGui::IsWindowAppearing());
  const bool enter = take_key(ui, "Enter");
  ImGui::BeginChild("list", {0, 0});
  for (std::size_t i = 0; i < lessons.lessons.size(); ++i) {
    const Lesson& lesson = lessons.lessons[i];
    const bool is_selected = static_cast<int>(i) == dialog.row;
    ImGui::PushID(lesson.id.c_str());
    const ImVec2 origin = ImGui::GetCursorPos();
    const float wrap = ImGui::GetContentRegionAvail().x - ui.px(24);
    const ImVec2 extent = ImGui::CalcTextSize(lesson.summary.c_str(), nullptr, false, wrap);
    const float height = extent.y + ImGui::GetTextLineHeight() + ui.px(22);
    // Only the selected row is highlighted. The pointer selects a row only when it moves, since it
    // may rest on another row while the user presses keys.
    ImGui::PushStyleColor(
        ImGuiCol_HeaderHovered,
        ImGui::GetStyleColorVec4(is_selected ? ImGuiCol_Header : ImGuiCol_ChildBg));
    const bool clicked = ImGui::Selectable("##open", is_selected, 0, {0, height});
    ImGui::PopStyleColor();
    mark(ui, "lesson." + lesson.id);
    const ImVec2 pointer = ImGui::GetIO().MouseDelta;
    if (ImGui::IsItemHovered() && (pointer.x != 0 || pointer.y != 0)) {
      dialog.row = static_cast<int>(i);
    }
    if (is_selected && has_moved && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
    if (clicked || (is_selected && enter)) start_lesson(state, lesson);
    ImGui::SetCursorPos({origin.x + ui.px(10), origin.y + ui.px(7)});
    ImGui::BeginGroup();
    ImGui::PushFont(ui.fonts.bold);
    ImGui::TextUnformatted(lesson.title.c_str());
    ImGui::PopFont();
    ImGui::SameLine();
    ImGui::TextColored(ui.look->faint, "%zu steps", lesson.steps.size());
    ImGui::PushTextWrapPos(origin.x + ui.px(10) + wrap);
    ImGui::TextColored(ui.look->faint, "%s", lesson.summary.c_str());
    ImGui::PopTextWrapPos();
    ImGui::EndGroup();
    ImGui::SetCursorPos({origin.x, origin.y + height + ui.px(4)});
    ImGui::PopID();
  }
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
