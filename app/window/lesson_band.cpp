#include "app/window/lesson_band.h"

#include <algorithm>
#include <array>

#include "app/window/actions.h"

namespace attnscope::window {

namespace {

constexpr double kPadding = 18, kDepth = 12;  // units: left and right, above and below
// Of the band's width for claims: what makes the band least high.
constexpr std::array<double, 3> kClaimsShares = {0.36, 0.46, 0.56};
constexpr double kMark = 22;  // units: "✓" and its gap

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
    ImGui::SameLine(ui.px(kMark));
    ImGui::BeginGroup();
    paragraph(ui, step.claims[i].text);
    // On a line of its own: ImGui breaks lines at the point of a number.
    if (checked) {
      ImGui::TextColored(ui.look->faint, "%s", measured_text(step.claims[i], *checked).c_str());
    }
    ImGui::EndGroup();
  }
}

float text_height(const ImFont* font, const std::string& text, float width) {
  ImGui::PushFont(const_cast<ImFont*>(font));
  const float height = ImGui::CalcTextSize(on_screen(text).c_str(), nullptr, false, width).y;
  ImGui::PopFont();
  return height + ImGui::GetStyle().ItemSpacing.y;
}

std::string notes_text(const State& state, const LessonStep& step) {
  return state.lesson.notes && !step.notes.empty() ? "Notes: " + step.notes : "";
}

struct Division {
  float words = 0, claims = 0;  // widths; claims 0: there are none
  float height = 0;             // of both
};

Division divided(const Ui& ui, const State& state, const LessonStep& step, float width) {
  const float inside = width - 2 * ui.px(kPadding);
  const std::string notes = notes_text(state, step);
  const auto words_height = [&](float words) {
    return text_height(ui.fonts.title, step.title, words) +
           text_height(ui.fonts.body, step.text, words) +
           (notes.empty() ? 0 : text_height(ui.fonts.small, notes, words));
  };
  if (step.claims.empty()) return {inside, 0, words_height(inside)};
  Division best;
  for (const double share : kClaimsShares) {
    const float beside = inside * static_cast<float>(share), claims = beside - ui.px(kPadding);
    float height = text_height(ui.fonts.small, "Measured in this run", claims);
    for (const Claim& claim : step.claims) {
      height += text_height(ui.fonts.small, claim.text, claims - ui.px(kMark)) +
                text_height(ui.fonts.small, "0", claims);
    }
    height = std::max(height, words_height(inside - beside));
    if (best.height == 0 || height < best.height) best = {inside - beside, claims, height};
  }
  return best;
}

}  // namespace

float lesson_band_height(const Ui& ui, const State& state, float width) {
  if (state.lesson.lesson == nullptr) return 0;
  const LessonStep& step = state.lesson.lesson->steps[state.lesson.step];
  return divided(ui, state, step, width).height + ImGui::GetFrameHeightWithSpacing() +
         2 * ui.px(kDepth) + ui.px(6);
}

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, float width, float height) {
  // Kept: a click on Leave lets go of it.
  const std::shared_ptr<const Lesson> kept = state.lesson.lesson;
  const LessonStep& step = kept->steps[state.lesson.step];
  measure_claims(state, step, checks);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kPadding), ui.px(kDepth)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->panel);
  begin_padded_child("lesson", {width, height});
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  const float above = ImGui::GetContentRegionAvail().y - ImGui::GetFrameHeightWithSpacing();
  const Division parts = divided(ui, state, step, width);
  ImGui::BeginChild("words", {parts.words, above});
  ImGui::PushFont(ui.fonts.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  paragraph(ui, step.text);
  mark(ui, "lesson.text");
  if (const std::string notes = notes_text(state, step); !notes.empty()) faint(ui, notes);
  ImGui::EndChild();
  if (parts.claims > 0) {
    ImGui::SameLine(0, ui.px(kPadding));
    ImGui::BeginChild("claims", {parts.claims, above});
    ImGui::PushFont(ui.fonts.small);
    draw_claims(ui, step, checks);
    ImGui::PopFont();
    ImGui::EndChild();
  }
  draw_buttons(ui, state);
  ImGui::SameLine(0, ui.px(16));
  ImGui::AlignTextToFramePadding();
  // As much of the lesson's title as there is room for: the step's stands above.
  const float room = ImGui::GetContentRegionAvail().x;
  if (ImGui::CalcTextSize(kept->title.c_str()).x <= room) {
    ImGui::TextColored(ui.look->faint, "%s", kept->title.c_str());
  } else {
    ImGui::NewLine();
  }
  ImGui::EndChild();
}

}  // namespace attnscope::window
