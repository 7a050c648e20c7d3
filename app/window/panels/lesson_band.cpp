#include "app/window/panels/lesson_band.h"

#include <algorithm>
#include <array>

#include "app/window/actions/actions.h"
#include "app/window/panels/step_strip.h"

namespace attnscope::window {
namespace {

constexpr double kPadding = 18, kDepth = 12;  // units: left and right, above and below
// Candidate shares of the claims in the band's width; the one with the lowest band is used.
constexpr std::array<double, 4> kClaimsShares = {0.28, 0.36, 0.46, 0.56};
// Maximum share of the height below the picture and on stage; share of the width beside the
// picture, which is square; and minimum aspect ratio of a window for that.
constexpr float kMaxBelow = 1.0F / 3, kMaxOnStage = 0.45F, kBeside = 0.45F, kWide = 1.2F;

// On stage the thumbnails have a line of their own.
constexpr double kStripHeight = 36, kStripOnStage = 46, kMinTitle = 60;  // units

// Next lesson if the button leads to it; null if it leads to another step, or scrolls the text.
const Lesson* next_lesson(const State& state) {
  const LessonState& now = state.lesson;
  const bool down = state.presentation.on && now.scroll.more_below;
  return !down && now.step + 1 == now.lesson->steps.size() ? lesson_after_current(now) : nullptr;
}

// On stage, the button shows the title of the next lesson.
std::string label_of_next(const State& state, const Lesson* next, float room) {
  if (next == nullptr)
    return state.presentation.on && state.lesson.scroll.more_below ? "More ▾" : "Next ›";
  if (!state.presentation.on) return "Next lesson ›";
  const std::string rest = " ›";
  return elided(on_screen(next->title), room - ImGui::CalcTextSize(rest.c_str()).x) + rest;
}

void draw_navigation(Ui& ui, State& state) {
  const LessonState& now = state.lesson;
  const Lesson* next = next_lesson(state);
  const float padding = 2 * ImGui::GetStyle().FramePadding.x;
  for (const char* id : {"lesson_back", "lesson_on"}) {
    const Action& a = action(id);
    const bool on = a.id == "lesson_on";
    const float room = ImGui::GetContentRegionAvail().x - padding;
    const std::string label = on ? label_of_next(state, next, room) : "‹ Back";
    const float width = std::max(ui.px(84), ImGui::CalcTextSize(label.c_str()).x + padding);
    ImGui::BeginDisabled(!a.enabled(state));
    const std::string what = on && next != nullptr ? "Next lesson: " + next->title : a.help;
    if (button(ui, label.c_str(), a.id, on, width)) a.run(state);
    ImGui::EndDisabled();
    hint(ui, what + "  (" + to_string(a.shortcuts.front()) + ")");
    ImGui::SameLine();
  }
  if (next != nullptr && state.presentation.on) return;
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%zu of %zu", now.step + 1, now.lesson->steps.size());
  mark(ui, "lesson.progress");
}

void draw_options(Ui& ui, State& state) {
  const Action& notes = action("lesson_notes");
  bool shown = state.lesson.notes;
  if (ImGui::Checkbox("Notes", &shown)) notes.run(state);
  mark(ui, "lesson.notes");
  hint(ui, notes.help + "  (" + to_string(notes.shortcuts.front()) + ")");
  ImGui::SameLine(0, ui.px(16));
  if (button(ui, "Leave", "lesson.leave")) action("lesson_leave").run(state);
  hint(ui, action("lesson_leave").help);
}

struct Division {
  float words = 0, claims = 0;  // widths; claims 0: no claims
  float height = 0;             // of both
};

// Divides this width between the text and the claims.
Division divide_band(const Ui& ui, const LessonFonts& type, const LessonStep& step,
                     const LessonChecks& checks, float inside) {
  if (step.claims.empty()) return {inside, 0, words_height(type, step, inside)};
  Division best;
  for (const double share : kClaimsShares) {
    const float beside = inside * static_cast<float>(share), claims = beside - ui.px(kPadding);
    const float height = std::max(claims_height(ui, type, step, checks, claims),
                                  words_height(type, step, inside - beside));
    if (best.height == 0 || height < best.height) best = {inside - beside, claims, height};
  }
  return best;
}

// Title of the lesson at the end of the line; on stage only if it fits.
void draw_title(const Ui& ui, const Lesson& lesson, bool is_presenting) {
  const std::string whole = on_screen(lesson.title);
  const std::string title = elided(whole, ImGui::GetContentRegionAvail().x);
  if (is_presenting && title != whole) return;
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", title.c_str());
  if (title != whole) hint(ui, lesson.title);
}

// Scrolls the text of a step by pages, and marks that there is more below. A new step starts at its
// beginning.
void scroll_words(Ui& ui, LessonScroll& words) {
  constexpr float kPage = 0.8F, kNothing = 2;  // share of the height; pixels
  if (ImGui::IsWindowAppearing()) ImGui::SetScrollY(0);
  if (std::exchange(words.turn_page, false)) {
    ImGui::SetScrollY(ImGui::GetScrollY() + kPage * ImGui::GetWindowHeight());
  }
  words.more_below = ImGui::GetScrollMaxY() - ImGui::GetScrollY() > kNothing;
  if (!words.more_below) return;
  const char* sign = "▾";
  const ImVec2 at = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 extent = ImGui::CalcTextSize(sign);
  const ImVec2 corner(at.x + (size.x - extent.x) / 2, at.y + size.y - extent.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({at.x, corner.y}, {at.x + size.x, at.y + size.y},
                     packed(ui.look->panel, 0.9F));
  draw.AddText(corner, packed(ui.look->accent), sign);
}

void draw_below(Ui& ui, LessonScroll& scroll, const LessonStep& step, const LessonChecks& checks,
                float foot) {
  const float all = ImGui::GetContentRegionAvail().x;
  const float above = ImGui::GetContentRegionAvail().y - foot;
  const LessonFonts type = window_fonts(ui);
  const Division parts = divide_band(ui, type, step, checks, all);
  ImGui::BeginChild("words", {parts.words, above});
  draw_words(ui, type, step);
  scroll_words(ui, scroll);
  ImGui::EndChild();
  if (parts.claims <= 0) return;
  ImGui::SameLine(0, ui.px(kPadding));
  ImGui::BeginChild("claims", {parts.claims, above});
  draw_claims(ui, type, step, checks);
  ImGui::EndChild();
}

// On stage: text above claims.
void draw_column(Ui& ui, LessonScroll& scroll, const LessonStep& step, const LessonChecks& checks,
                 float foot) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const LessonFonts type = lecture_fonts(ui, step, checks, room.x, room.y - foot);
  ImGui::BeginChild("words", {0, room.y - foot});
  draw_words(ui, type, step);
  if (!step.claims.empty()) {
    ImGui::Dummy({0, ui.px(kDepth) - ImGui::GetStyle().ItemSpacing.y});
    draw_claims(ui, type, step, checks);
  }
  scroll_words(ui, scroll);
  ImGui::EndChild();
}

// Height of the foot below the text: thumbnails of all steps, and the buttons.
float foot_height(const Ui& ui, const State& state, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  if (!state.presentation.on) return ui.px(kStripHeight) + gap;
  const ImVec2 size = step_picture_size(ui, *state.lesson.lesson, width, ui.px(kStripOnStage));
  return size.y + gap + ImGui::GetFrameHeightWithSpacing();
}

void draw_foot_on_stage(Ui& ui, State& state, const StepTextures& pictures) {
  const float width = ImGui::GetContentRegionAvail().x;
  draw_step_strip(ui, state, pictures,
                  step_picture_size(ui, *state.lesson.lesson, width, ui.px(kStripOnStage)));
  if (state.lesson.lesson == nullptr) return;
  const bool leads_on = next_lesson(state) != nullptr;
  draw_navigation(ui, state);
  if (leads_on) return;
  ImGui::SameLine(0, ui.px(16));
  draw_title(ui, *state.lesson.lesson, true);
}

// Foot in one line, with the buttons centred vertically beside the thumbnails.
void draw_foot_below(Ui& ui, State& state, const StepTextures& pictures) {
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;  // a click on Leave releases it
  const float top = ImGui::GetCursorPosY();
  const float high = ui.px(kStripHeight);
  ImGui::SetCursorPosY(top + (high - ImGui::GetFrameHeight()) / 2);
  draw_navigation(ui, state);
  ImGui::SameLine(0, ui.px(16));
  draw_options(ui, state);
  if (state.lesson.lesson == nullptr) return;
  ImGui::SameLine(0, ui.px(16));
  const ImVec2 size =
      step_picture_size(ui, *state.lesson.lesson, ImGui::GetContentRegionAvail().x, high);
  ImGui::SetCursorPosY(top + (high - size.y) / 2);
  draw_step_strip(ui, state, pictures, size);
  ImGui::SameLine(0, ui.px(16));
  if (ImGui::GetContentRegionAvail().x < ui.px(kMinTitle)) return;
  ImGui::SetCursorPosY(top + (high - ImGui::GetFrameHeight()) / 2);
  draw_title(ui, *lesson, false);
}

}  // namespace

LessonPlace lesson_place(const Ui& ui, const State& state, const LessonChecks& checks, float width,
                         float height) {
  if (state.lesson.lesson == nullptr) return {};
  if (state.presentation.on && width >= kWide * height) return {true, kBeside * width, height};
  if (state.presentation.on) return {false, width, kMaxOnStage * height};
  const LessonStep& step = state.lesson.lesson->steps[state.lesson.step];
  const float needed =
      divide_band(ui, window_fonts(ui), step, checks, width - 2 * ui.px(kPadding)).height +
      foot_height(ui, state, width) + 2 * ui.px(kDepth) + ui.px(6);
  return {false, width, std::min(needed, kMaxBelow * height)};
}

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, const StepTextures& pictures,
                      const LessonPlace& place) {
  // Kept alive: a click on Leave releases it.
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;
  const LessonStep& step = lesson->steps[state.lesson.step];
  measure_claims(state, step, checks);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kPadding), ui.px(kDepth)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->panel);
  begin_padded_child("lesson", {place.width, place.height},
                     ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PushID(&step);  // each step has its own scroll position
  const float foot = foot_height(ui, state, ImGui::GetContentRegionAvail().x);
  if (state.presentation.on) {
    draw_column(ui, state.lesson.scroll, step, checks, foot);
  } else {
    draw_below(ui, state.lesson.scroll, step, checks, foot);
  }
  ImGui::PopID();
  if (state.presentation.on) {
    draw_foot_on_stage(ui, state, pictures);
  } else {
    draw_foot_below(ui, state, pictures);
  }
  ImGui::EndChild();
  mark(ui, "lesson");
}

}  // namespace attnscope::window
