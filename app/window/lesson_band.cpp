#include "app/window/lesson_band.h"

#include "app/window/actions.h"

namespace attnscope::window {

namespace {

constexpr double kHeight = 176, kNotesHeight = 64;  // units
constexpr double kClaimsShare = 0.36;               // of the band's width

void measure_claims(const State& state, const LessonStep& step, LessonChecks& kept) {
  // The run of the step before says nothing about this one.
  const bool current = state.trace != nullptr && same_run(state.shown, state.experiment);
  const auto trace = current ? state.trace : nullptr;
  const auto reference = current ? state.reference : nullptr;
  if (kept.step == &step && kept.trace == trace && kept.reference == reference) return;
  kept = {trace, reference, &step, {}};
  for (const Claim& claim : step.claims) {
    kept.checks.emplace_back();
    if (trace == nullptr) continue;
    try {
      kept.checks.back() = check(claim, {trace, reference});
    } catch (const std::exception&) {
      continue;  // the person went elsewhere: another model, another text
    }
  }
}

void draw_buttons(Ui& ui, State& state) {
  const LessonState& now = state.lesson;
  for (const char* id : {"lesson_back", "lesson_on"}) {
    const Action& a = action(id);
    const bool on = a.id == "lesson_on";
    ImGui::BeginDisabled(!a.enabled(state));
    if (button(ui, on ? "Next ›" : "‹ Back", a.id, on, ui.px(84))) a.run(state);
    ImGui::EndDisabled();
    hint(ui, a.help + "  (" + to_string(a.shortcuts.front()) + ")");
    ImGui::SameLine();
  }
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%zu of %zu", now.step + 1, now.lesson->steps.size());
  mark(ui, "lesson.progress");
  ImGui::SameLine(0, ui.px(16));
  const Action& notes = action("lesson_notes");
  bool shown = now.notes;
  if (ImGui::Checkbox("Speaker's notes", &shown)) notes.run(state);
  mark(ui, "lesson.notes");
  hint(ui, notes.help + "  (" + to_string(notes.shortcuts.front()) + ")");
  ImGui::SameLine(0, ui.px(16));
  if (button(ui, "Leave", "lesson.leave")) action("lesson_leave").run(state);
  hint(ui, action("lesson_leave").help);
}

void draw_claims(Ui& ui, const LessonStep& step, const LessonChecks& kept) {
  ImGui::TextColored(ui.look->faint, "Measured in this run");
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    const std::optional<ClaimCheck>& checked = kept.checks[i];
    const ImVec4& colour = !checked         ? ui.look->faint
                           : checked->holds ? ui.look->accent
                                            : ui.look->warning;
    ImGui::TextColored(colour, "%s", !checked ? "–" : (checked->holds ? "✓" : "✗"));
    ImGui::SameLine();
    paragraph(ui, step.claims[i].text +
                      (checked ? "  " + measured_text(step.claims[i], *checked) : std::string()));
  }
}

}  // namespace

double lesson_band_height(const State& state) {
  if (state.lesson.lesson == nullptr) return 0;
  return kHeight + (state.lesson.notes ? kNotesHeight : 0);
}

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, float width, float height) {
  // Kept: a click on Leave lets go of it.
  const std::shared_ptr<const Lesson> kept = state.lesson.lesson;
  const Lesson& lesson = *kept;
  const LessonStep& step = lesson.steps[state.lesson.step];
  measure_claims(state, step, checks);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(18), ui.px(12)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->panel);
  ImGui::BeginChild("lesson", {width, height}, false, ImGuiWindowFlags_AlwaysUseWindowPadding);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const float buttons = ImGui::GetFrameHeightWithSpacing();
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const bool measured = !step.claims.empty();
  const float left = measured ? space.x * static_cast<float>(1 - kClaimsShare) : space.x;
  ImGui::BeginChild("words", {left, space.y - buttons});
  ImGui::PushFont(ui.fonts.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  paragraph(ui, step.text);
  mark(ui, "lesson.text");
  if (state.lesson.notes && !step.notes.empty()) faint(ui, "Notes: " + step.notes);
  ImGui::EndChild();
  if (measured) {
    ImGui::SameLine(0, ui.px(18));
    ImGui::BeginChild("claims", {0, space.y - buttons});
    ImGui::PushFont(ui.fonts.small);
    draw_claims(ui, step, checks);
    ImGui::PopFont();
    ImGui::EndChild();
  }
  draw_buttons(ui, state);
  ImGui::SameLine(0, ui.px(16));
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", lesson.title.c_str());
  ImGui::EndChild();
}

}  // namespace attnscope::window
