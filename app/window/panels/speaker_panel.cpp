#include "app/window/panels/speaker_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>

#include "app/window/actions/actions.h"
#include "app/window/panels/step_strip.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

constexpr double kMargin = 18, kSpeakerStrip = 54;  // units
constexpr float kNextFraction = 0.38F;              // fraction of the width for the next step

std::string time_of_day() {
  const std::time_t time = std::time(nullptr);
  std::tm local{};
  localtime_r(&time, &local);
  std::array<char, 16> buffer;
  std::strftime(buffer.data(), buffer.size(), "%H:%M", &local);
  return buffer.data();
}

void action_button(Ui& ui, State& state, const char* id, const char* label, bool is_primary) {
  const Action& a = action(id);
  ImGui::BeginDisabled(!a.enabled(state));
  if (button(ui, label, std::string("speaker.") + id, is_primary)) a.run(state);
  ImGui::EndDisabled();
  const std::string key = a.shortcuts.empty() ? "" : "  (" + to_string(a.shortcuts.front()) + ")";
  hint(ui, help_text(a, state) + key);
}

// Clock, and the buttons of a presenter remote.
void draw_header(Ui& ui, State& state) {
  const std::string elapsed = elapsed_text(state.seconds - state.lesson.clock_start);
  ImGui::PushFont(ui.fonts.lecture.front().title);
  const float line_height = ImGui::GetTextLineHeight();
  ImGui::TextUnformatted(elapsed.c_str());
  mark(ui, "speaker.elapsed");
  ImGui::PopFont();
  const float top = ImGui::GetItemRectMin().y - ImGui::GetWindowPos().y;
  const auto continue_line = [&](double gap) {
    ImGui::SameLine(0, ui.px(gap));
    ImGui::SetCursorPosY(top + (line_height - ImGui::GetFrameHeight()) / 2);
  };
  continue_line(12);
  action_button(ui, state, "lesson_clock", "Restart", false);
  continue_line(24);
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "Time %s", time_of_day().c_str());
  mark(ui, "speaker.time");
  continue_line(24);
  action_button(ui, state, "lesson_back", "‹ Back", false);
  continue_line(8);
  action_button(ui, state, "lesson_on", state.lesson.scroll.has_more_below ? "More ▾" : "Next ›",
                true);
  continue_line(8);
  action_button(ui, state, "black", state.presentation.is_black ? "Show" : "Black", false);
  if (state.presentation.monitors > 1) {
    continue_line(8);
    action_button(ui, state, "swap_screens", "Swap screens", false);
  }
  continue_line(16);
  ImGui::AlignTextToFramePadding();
  const LessonState& lesson = state.lesson;
  const std::string position = std::to_string(lesson.step + 1) + " of " +
                               std::to_string(lesson.lesson->steps.size()) + " · " +
                               lesson.lesson->title;
  const std::string text = elide(on_screen(position), ImGui::GetContentRegionAvail().x);
  ImGui::TextColored(ui.look->faint, "%s", text.c_str());
}

// Draws the notes in the largest fitting type, with the audience's text below.
void draw_notes(Ui& ui, const LessonStep& step, ImVec2 size) {
  ImGui::BeginChild("notes", size);
  ImGui::PushFont(ui.fonts.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  const std::string notes = on_screen(step.notes.empty() ? "No notes for this step" : step.notes);
  ImVec2 area = ImGui::GetContentRegionAvail();
  area.y -= 3 * ImGui::GetTextLineHeightWithSpacing() +
            ImGui::CalcTextSize(on_screen(step.text).c_str(), nullptr, false, area.x).y;
  ImFont* font = ui.fonts.body;
  for (const Fonts::Lecture& lecture : ui.fonts.lecture) {
    font = lecture.text;
    const float height = font->CalcTextSizeA(baked_size(font), FLT_MAX, area.x, notes.c_str()).y;
    if (height <= area.y) break;
  }
  ImGui::PushFont(font);
  if (step.notes.empty()) ImGui::PushStyleColor(ImGuiCol_Text, ui.look->faint);
  paragraph(ui, notes);
  if (step.notes.empty()) ImGui::PopStyleColor();
  ImGui::PopFont();
  mark(ui, "speaker.notes");
  ImGui::Dummy({0, ui.px(10)});
  ImGui::TextColored(ui.look->faint, "The audience reads");
  ImGui::PushStyleColor(ImGuiCol_Text, ui.look->faint);
  paragraph(ui, step.text);
  ImGui::PopStyleColor();
  ImGui::EndChild();
}

void draw_next(Ui& ui, const State& state, const StepTextures& pictures, ImVec2 size) {
  ImGui::BeginChild("next", size);
  const LessonState& current = state.lesson;
  const std::size_t next = current.step + 1;
  if (next < current.lesson->steps.size()) {
    ImGui::TextColored(ui.look->faint, "Next");
    ImGui::PushFont(ui.fonts.bold);
    paragraph(ui, current.lesson->steps[next].title);
    ImGui::PopFont();
    mark(ui, "speaker.next");
    const ImVec2 origin = ImGui::GetCursorScreenPos(), area = ImGui::GetContentRegionAvail();
    const float ratio = static_cast<float>(kStepPictureRatio);
    const float width = std::min(area.x, area.y * ratio);
    if (width > 0) draw_step_picture(ui, pictures, next, origin, {width, width / ratio});
  } else if (const Lesson* lesson = lesson_after_current(state.lesson)) {
    ImGui::TextColored(ui.look->faint, "Next lesson");
    ImGui::PushFont(ui.fonts.bold);
    paragraph(ui, lesson->title);
    ImGui::PopFont();
    mark(ui, "speaker.next");
    paragraph(ui, lesson->summary);
  } else {
    ImGui::TextColored(ui.look->faint, "Last step");
    mark(ui, "speaker.next");
  }
  ImGui::EndChild();
}

void draw_status(Ui& ui, const State& state, bool has_own_monitor) {
  ImGui::PushFont(ui.fonts.small);
  std::string status = stage_status(state);
  if (!has_own_monitor) {
    status += std::string(status.empty() ? "" : "  ·  ") +
              "There is only one monitor: this window covers the audience's window.";
  }
  const float max_width = ImGui::GetContentRegionAvail().x;
  ImGui::TextColored(ui.look->faint, "%s", elide(on_screen(status), max_width).c_str());
  mark(ui, "speaker.status");
  hint(ui, status);
  ImGui::PopFont();
}

}  // namespace

std::string elapsed_text(double seconds) {
  const auto total = static_cast<long>(std::max(0.0, std::floor(seconds)));
  std::array<char, 32> text;
  if (total >= 3600) {
    std::snprintf(text.data(), text.size(), "%ld:%02ld:%02ld", total / 3600, total / 60 % 60,
                  total % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%ld:%02ld", total / 60, total % 60);
  }
  return text.data();
}

std::string stage_status(const State& state) {
  std::string status;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) status += (status.empty() ? "" : "  ·  ") + text;
  };
  if (state.presentation.is_black) add("Black screen");
  if (state.run.busy_seconds > kLongRunSeconds) add("Running");
  add(state.run.error);
  if (state.run.trace != nullptr) {
    add(state.run.trace->backend);
    add(describe_token_count(*state.run.trace));
    for (const std::string& note : state.run.trace->notes) add("⚠ " + note);
  }
  add(state.view.pending);
  return status;
}

void draw_speaker_panel(Ui& ui, State& state, const StepTextures& pictures, bool has_own_monitor) {
  if (state.lesson.lesson == nullptr) return;
  // Keeps the lesson alive: a key may start another lesson.
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;
  const LessonStep& step = lesson->steps[state.lesson.step];
  const ImGuiViewport& screen = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen.Pos);
  ImGui::SetNextWindowSize(screen.Size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kMargin), ui.px(kMargin)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::Begin("##speaker", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar(3);
  draw_header(ui, state);
  ImGui::Dummy({0, ui.px(4)});
  const ImVec2 area = ImGui::GetContentRegionAvail();
  const ImVec2 strip = step_picture_size(ui, *state.lesson.lesson, area.x, ui.px(kSpeakerStrip));
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  const float status_height = baked_size(ui.fonts.small) + 2 * gap;
  const float middle_height = std::max(area.y - strip.y - status_height - 3 * gap, ui.px(60));
  const float next_width = kNextFraction * area.x;
  draw_notes(ui, step, {area.x - next_width - ui.px(kMargin), middle_height});
  ImGui::SameLine(0, ui.px(kMargin));
  draw_next(ui, state, pictures, {next_width, middle_height});
  ImGui::Dummy({0, gap});
  draw_step_strip(ui, state, pictures, strip);
  draw_status(ui, state, has_own_monitor);
  ImGui::End();
}

}  // namespace attnscope::window
