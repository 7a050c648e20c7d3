#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "core/lesson/lesson.h"

namespace attnscope::window {
namespace {

// Arrow keys change the selection, initially the running lesson. True if it changed.
bool choose_by_keys(Ui& ui, const LessonState& now, int& chosen, bool appearing) {
  const int before = chosen;
  if (appearing) {
    const auto on = std::ranges::find(now.lessons, now.lesson ? now.lesson->id : "", &Lesson::id);
    chosen = on != now.lessons.end() ? static_cast<int>(on - now.lessons.begin()) : 0;
  }
  if (take_key(ui, "Down")) ++chosen;
  if (take_key(ui, "Up")) --chosen;
  chosen = std::clamp(chosen, 0, std::max(static_cast<int>(now.lessons.size()) - 1, 0));
  return appearing || chosen != before;
}

}  // namespace

void draw_lesson_list(Ui& ui, State& state) {
  LessonList& dialog = state.dialogs.lessons;
  if (!begin_dialog(ui, "Lessons", dialog.open, 620, 560)) return;
  LessonState& now = state.lesson;
  read_lessons(now);
  if (!now.problem.empty()) paragraph(ui, now.problem);
  const bool moved = choose_by_keys(ui, now, dialog.chosen, ImGui::IsWindowAppearing());
  const bool enter = take_key(ui, "Enter");
  ImGui::BeginChild("list", {0, 0});
  for (std::size_t i = 0; i < now.lessons.size(); ++i) {
    const Lesson& lesson = now.lessons[i];
    const bool chosen = static_cast<int>(i) == dialog.chosen;
    ImGui::PushID(lesson.id.c_str());
    const ImVec2 at = ImGui::GetCursorPos();
    const float wrap = ImGui::GetContentRegionAvail().x - ui.px(24);
    const ImVec2 extent = ImGui::CalcTextSize(lesson.summary.c_str(), nullptr, false, wrap);
    const float height = extent.y + ImGui::GetTextLineHeight() + ui.px(22);
    // Only the selected row is highlighted; the pointer selects only when it moves, since it may
    // rest on another row while keys are used.
    ImGui::PushStyleColor(ImGuiCol_HeaderHovered,
                          ImGui::GetStyleColorVec4(chosen ? ImGuiCol_Header : ImGuiCol_ChildBg));
    const bool clicked = ImGui::Selectable("##open", chosen, 0, {0, height});
    ImGui::PopStyleColor();
    mark(ui, "lesson." + lesson.id);
    const ImVec2 pointer = ImGui::GetIO().MouseDelta;
    if (ImGui::IsItemHovered() && (pointer.x != 0 || pointer.y != 0)) {
      dialog.chosen = static_cast<int>(i);
    }
    if (chosen && moved && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
    if (clicked || (chosen && enter)) start_lesson(state, lesson);
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
