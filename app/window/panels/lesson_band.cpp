#include "app/window/panels/lesson_band.h"

#include <algorithm>
#include <array>

#include "app/window/actions/actions.h"
#include "app/window/panels/step_strip.h"

namespace attnscope::window {
namespace {

constexpr double kPadding = 18, kDepth = 12;  // units: at the sides; above and below
// Candidate fractions of the band's width for the claims; divide_band() minimises the height.
constexpr std::array<double, 4> kClaimsFractions = {0.28, 0.36, 0.46, 0.56};
// Maximum fractions of the height, normally and on stage (in presentation mode). If the stage's
// aspect ratio is kAspect or more, the band is beside the picture; kBandWidth is its fraction of
// the width.
constexpr float kMaxHeight = 1.0F / 3, kMaxOnStage = 0.45F, kBandWidth = 0.45F, kAspect = 1.2F;

// On stage, thumbnails are larger and on a separate line.
constexpr double kStripHeight = 36, kStripOnStage = 46, kMinTitle = 60;  // units

// Lesson that the Next button opens; null if the button shows a step or scrolls the text.
const Lesson* next_lesson(const State& state) {
  const LessonState& lesson = state.lesson;
  if (state.presentation.is_on && lesson.scroll.has_more_below) return nullptr;
  return lesson.step + 1 == lesson.lesson->steps.size() ? lesson_after_current(lesson) : nullptr;
}

// On stage, the button shows the title of the next lesson.
std::string next_label(const State& state, const Lesson* next, float max_width) {
  if (next == nullptr)
    return state.presentation.is_on && state.lesson.scroll.has_more_below ? "More ▾" : "Next ›";
  if (!state.presentation.is_on) return "Next lesson ›";
  const std::string arrow = " ›";
  return elide(on_screen(next->title), max_width - ImGui::CalcTextSize(arrow.c_str()).x) + arrow;
}

void draw_navigation(Ui& ui, State& state) {
  const LessonState& lesson = state.lesson;
  const Lesson* next = next_lesson(state);
  const float padding = 2 * ImGui::GetStyle().FramePadding.x;
  for (const char* id : {"lesson_back", "lesson_on"}) {
    const Action& a = action(id);
    const bool is_next = a.id == "lesson_on";
    const float max_width = ImGui::GetContentRegionAvail().x - padding;
    const std::string label = is_next ? next_label(state, next, max_width) : "‹ Back";
    const float width = std::max(ui.px(84), ImGui::CalcTextSize(label.c_str()).x + padding);
    ImGui::BeginDisabled(!a.enabled(state));
    const std::string help = is_next && next != nullptr ? "Next lesson: " + next->title : a.help;
    if (button(ui, label.c_str(), a.id, is_next, width)) a.run(state);
    ImGui::EndDisabled();
    hint(ui, help + "  (" + to_string(a.shortcuts.front()) + ")");
    ImGui::SameLine();
  }
  if (next != nullptr && state.presentation.is_on) return;
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%zu of %zu", lesson.step + 1, lesson.lesson->steps.size());
  mark(ui, "lesson.progress");
}

void draw_options(Ui& ui, State& state) {
  const Action& notes = action("lesson_notes");
  bool has_notes = state.lesson.notes;
  if (ImGui::Checkbox("Notes", &has_notes)) notes.run(state);
  mark(ui, "lesson.notes");
  hint(ui, notes.help + "  (" + to_string(notes.shortcuts.front()) + ")");
  ImGui::SameLine(0, ui.px(16));
  if (button(ui, "Leave", "lesson.leave")) action("lesson_leave").run(state);
  hint(ui, action("lesson_leave").help);
}

struct BandColumns {
  float text = 0, claims = 0;  // widths; claims == 0: no claims
  float height = 0;            // height of the taller column
};

// Divides `inner_width` between the text and the claims so that the band's height is minimal.
BandColumns divide_band(const Ui& ui, const LessonFonts& fonts, const LessonStep& step,
                        const LessonChecks& checks, float inner_width) {
  if (step.claims.empty()) return {inner_width, 0, words_height(fonts, step, inner_width)};
  BandColumns best;
  for (const double fraction : kClaimsFractions) {
    const float column = inner_width * static_cast<float>(fraction),
                claims = column - ui.px(kPadding);
    const float height = std::max(claims_height(ui, fonts, step, checks, claims),
                                  words_height(fonts, step, inner_width - column));
    if (best.height == 0 || height < best.height) best = {inner_width - column, claims, height};
  }
  return best;
}

// Title of the lesson at the end of the line; on stage only if it fits.
void draw_title(const Ui& ui, const Lesson& lesson, bool is_presenting) {
  const std::string full_title = on_screen(lesson.title);
  const std::string title = elide(full_title, ImGui::GetContentRegionAvail().x);
  if (is_presenting && title != full_title) return;
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", title.c_str());
  if (title != full_title) hint(ui, lesson.title);
}

// Scrolls the text of a step by pages, and marks hidden text below. A new step starts at its top.
void scroll_words(Ui& ui, LessonScroll& scroll) {
  constexpr float kPage = 0.8F, kTolerance = 2;  // fraction of the height; pixels
  if (ImGui::IsWindowAppearing()) ImGui::SetScrollY(0);
  if (std::exchange(scroll.turn_page, false)) {
    ImGui::SetScrollY(ImGui::GetScrollY() + kPage * ImGui::GetWindowHeight());
  }
  scroll.has_more_below = ImGui::GetScrollMaxY() - ImGui::GetScrollY() > kTolerance;
  if (!scroll.has_more_below) return;
  const char* arrow = "▾";
  const ImVec2 origin = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  const ImVec2 extent = ImGui::CalcTextSize(arrow);
  const ImVec2 corner(origin.x + (size.x - extent.x) / 2, origin.y + size.y - extent.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled({origin.x, corner.y}, {origin.x + size.x, origin.y + size.y},
                     packed(ui.look->panel, 0.9F));
  draw.AddText(corner, packed(ui.look->accent), arrow);
}

void draw_below(Ui& ui, LessonScroll& scroll, const LessonStep& step, const LessonChecks& checks,
                float footer) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = ImGui::GetContentRegionAvail().y - footer;
  const LessonFonts fonts = window_fonts(ui);
  const BandColumns columns = divide_band(ui, fonts, step, checks, width);
  ImGui::BeginChild("words", {columns.text, height});
  draw_words(ui, fonts, step);
  scroll_words(ui, scroll);
  ImGui::EndChild();
  if (columns.claims <= 0) return;
  ImGui::SameLine(0, ui.px(kPadding));
  ImGui::BeginChild("claims", {columns.claims, height});
  draw_claims(ui, fonts, step, checks);
  ImGui::EndChild();
}

// Draws the text above the claims, on stage.
void draw_column(Ui& ui, LessonScroll& scroll, const LessonStep& step, const LessonChecks& checks,
                 float footer) {
  const ImVec2 area = ImGui::GetContentRegionAvail();
  const LessonFonts fonts = lecture_fonts(ui, step, checks, area.x, area.y - footer);
  ImGui::BeginChild("words", {0, area.y - footer});
  draw_words(ui, fonts, step);
  if (!step.claims.empty()) {
    ImGui::Dummy({0, ui.px(kDepth) - ImGui::GetStyle().ItemSpacing.y});
    draw_claims(ui, fonts, step, checks);
  }
  scroll_words(ui, scroll);
  ImGui::EndChild();
}

// Height of the footer: thumbnails of all steps, and buttons.
float footer_height(const Ui& ui, const State& state, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  if (!state.presentation.is_on) return ui.px(kStripHeight) + gap;
  const ImVec2 size = step_picture_size(ui, *state.lesson.lesson, width, ui.px(kStripOnStage));
  return size.y + gap + ImGui::GetFrameHeightWithSpacing();
}

void draw_stage_footer(Ui& ui, State& state, const StepTextures& pictures) {
  const float width = ImGui::GetContentRegionAvail().x;
  draw_step_strip(ui, state, pictures,
                  step_picture_size(ui, *state.lesson.lesson, width, ui.px(kStripOnStage)));
  if (state.lesson.lesson == nullptr) return;
  const bool names_lesson = next_lesson(state) != nullptr;
  draw_navigation(ui, state);
  if (names_lesson) return;
  ImGui::SameLine(0, ui.px(16));
  draw_title(ui, *state.lesson.lesson, true);
}

// Footer in one line: buttons, centred vertically, and thumbnails.
void draw_footer(Ui& ui, State& state, const StepTextures& pictures) {
  const std::shared_ptr<const Lesson> lesson = state.lesson.lesson;  // alive after a click on Leave
  const float top = ImGui::GetCursorPosY();
  const float height = ui.px(kStripHeight);
  ImGui::SetCursorPosY(top + (height - ImGui::GetFrameHeight()) / 2);
  draw_navigation(ui, state);
  ImGui::SameLine(0, ui.px(16));
  draw_options(ui, state);
  if (state.lesson.lesson == nullptr) return;
  ImGui::SameLine(0, ui.px(16));
  const ImVec2 size =
      step_picture_size(ui, *state.lesson.lesson, ImGui::GetContentRegionAvail().x, height);
  ImGui::SetCursorPosY(top + (height - size.y) / 2);
  draw_step_strip(ui, state, pictures, size);
  ImGui::SameLine(0, ui.px(16));
  if (ImGui::GetContentRegionAvail().x < ui.px(kMinTitle)) return;
  ImGui::SetCursorPosY(top + (height - ImGui::GetFrameHeight()) / 2);
  draw_title(ui, *lesson, false);
}

}  // namespace

LessonPlace lesson_place(const Ui& ui, const State& state, const LessonChecks& checks, float width,
                         float height) {
  if (state.lesson.lesson == nullptr) return {};
  if (state.presentation.is_on && width >= kAspect * height)
    return {true, kBandWidth * width, height};
  if (state.presentation.is_on) return {false, width, kMaxOnStage * height};
  const LessonStep& step = state.lesson.lesson->steps[state.lesson.step];
  const float required_height =
      divide_band(ui, window_fonts(ui), step, checks, width - 2 * ui.px(kPadding)).height +
      footer_height(ui, state, width) + 2 * ui.px(kDepth) + ui.px(6);
  return {false, width, std::min(required_height, kMaxHeight * height)};
}

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, const StepTextures& pictures,
                      const LessonPlace& place) {
  // Keeps the lesson alive, since a click on Leave makes the state release it.
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
  const float footer = footer_height(ui, state, ImGui::GetContentRegionAvail().x);
  if (state.presentation.is_on) {
    draw_column(ui, state.lesson.scroll, step, checks, footer);
  } else {
    draw_below(ui, state.lesson.scroll, step, checks, footer);
  }
  ImGui::PopID();
  if (state.presentation.is_on) {
    draw_stage_footer(ui, state, pictures);
  } else {
    draw_footer(ui, state, pictures);
  }
  ImGui::EndChild();
  mark(ui, "lesson");
}

}  // namespace attnscope::window
