#include "app/window/panels/lesson_band.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "app/window/actions/actions.h"

namespace attnscope::window {

namespace {

constexpr double kPadding = 18, kDepth = 12;  // units: left and right, above and below
// Of the band's width for claims: what makes the band least high.
constexpr std::array<double, 4> kClaimsShares = {0.28, 0.36, 0.46, 0.56};
// Of the height, of the width beside the picture, and how wide a window has room for that.
constexpr float kMostBelow = 1.0F / 3, kBeside = 0.34F, kWide = 1.4F;
constexpr double kMark = 22;  // units: "✓" and its gap

void measure_claims(const State& state, const LessonStep& step, LessonChecks& kept) {
  // The run of the step before says nothing about this one.
  const bool current = state.trace != nullptr && same_run(state.shown, state.experiment);
  const auto trace = current ? state.trace : nullptr;
  Traces traces(trace);
  if (current) traces.findings = state.findings.with(state.beside);
  if (kept.step == &step && kept.trace == trace && kept.findings == traces.findings) return;
  kept = {trace, traces.findings, &step, {}};
  for (const Claim& claim : step.claims) {
    kept.checks.emplace_back();
    if (trace == nullptr) continue;
    try {
      kept.checks.back() = check(claim, traces);
    } catch (const std::exception&) {
      continue;  // the person went elsewhere: another model, another text
    }
  }
}

void draw_turning(Ui& ui, State& state) {
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

struct Coloured {
  std::string text;
  ImVec4 colour;
};

// Words one after the other in lines of this width. They part at spaces alone: ImGui's own lines
// part at the point of a number, too. Draws them where there is something to draw on.
float flow(const std::vector<Coloured>& parts, float width, ImDrawList* draw) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), space = ImGui::CalcTextSize(" ").x;
  float x = 0, y = 0;
  for (const Coloured& part : parts) {
    std::istringstream words(part.text);
    for (std::string word; words >> word;) {
      const std::string shown = on_screen(word);
      const float wide = ImGui::CalcTextSize(shown.c_str()).x;
      if (x > 0 && x + wide > width) {
        x = 0;
        y += line;
      }
      if (draw != nullptr) {
        draw->AddText({origin.x + x, origin.y + y}, packed(part.colour), shown.c_str());
      }
      x += wide + space;
    }
  }
  return y + line;
}

// A claim with its number; one that is not known yet takes up as much space.
std::vector<Coloured> claim_words(const Ui& ui, const Claim& claim,
                                  const std::optional<ClaimCheck>& checked) {
  ImVec4 faint = ui.look->faint;
  if (!checked) faint.w = 0;
  const ClaimCheck limit{claim.least.value_or(claim.most.value_or(0)), false};
  return {{claim.text, ui.look->text}, {measured_text(claim, checked.value_or(limit)), faint}};
}

void draw_claims(Ui& ui, const LessonStep& step, const LessonChecks& kept) {
  ImGui::PushFont(ui.fonts.small);
  ImGui::TextColored(ui.look->faint, "Measured in this run");
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    const std::optional<ClaimCheck>& checked = kept.checks[i];
    const ImVec4& colour = !checked         ? ui.look->faint
                           : checked->holds ? ui.look->accent
                                            : ui.look->warning;
    ImGui::TextColored(colour, "%s", !checked ? "–" : (checked->holds ? "✓" : "✗"));
    ImGui::SameLine(ui.px(kMark));
    const float width = ImGui::GetContentRegionAvail().x;
    const float height =
        flow(claim_words(ui, step.claims[i], checked), width, ImGui::GetWindowDrawList());
    ImGui::Dummy({width, height});
  }
  ImGui::PopFont();
}

float text_height(const ImFont* font, const std::string& text, float width) {
  ImGui::PushFont(const_cast<ImFont*>(font));
  const float height = ImGui::CalcTextSize(on_screen(text).c_str(), nullptr, false, width).y;
  ImGui::PopFont();
  return height + ImGui::GetStyle().ItemSpacing.y;
}

std::string notes_text(const State& state, const LessonStep& step) {
  if (!state.lesson.notes) return "";
  return step.notes.empty() ? "There are no notes for this step." : "Notes: " + step.notes;
}

struct Division {
  float words = 0, claims = 0;  // widths; claims 0: there are none
  float height = 0;             // of both
};

float claims_height(const Ui& ui, const LessonStep& step, float width) {
  ImGui::PushFont(ui.fonts.small);
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  float height = ImGui::GetTextLineHeight() + gap;
  for (const Claim& claim : step.claims) {
    height += flow(claim_words(ui, claim, {}), width - ui.px(kMark), nullptr) + gap;
  }
  ImGui::PopFont();
  return height;
}

// Words and claims side by side in this width.
Division divided(const Ui& ui, const State& state, const LessonStep& step, float inside) {
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
    const float height = std::max(claims_height(ui, step, claims), words_height(inside - beside));
    if (best.height == 0 || height < best.height) best = {inside - beside, claims, height};
  }
  return best;
}

void draw_title(const Ui& ui, const Lesson& lesson) {
  const std::string whole = on_screen(lesson.title);
  const std::string title = fitted(whole, ImGui::GetContentRegionAvail().x);
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", title.c_str());
  if (title != whole) hint(ui, lesson.title);
}

void draw_words(Ui& ui, const State& state, const LessonStep& step) {
  ImGui::PushFont(ui.fonts.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  paragraph(ui, step.text);
  mark(ui, "lesson.text");
  const std::string notes = notes_text(state, step);
  if (notes.empty()) return;
  faint(ui, notes);
  mark(ui, "lesson.notes_text");
}

void draw_below(Ui& ui, const State& state, const LessonStep& step, const LessonChecks& checks) {
  const Division parts = divided(ui, state, step, ImGui::GetContentRegionAvail().x);
  const float above = ImGui::GetContentRegionAvail().y - ImGui::GetFrameHeightWithSpacing();
  ImGui::BeginChild("words", {parts.words, above});
  draw_words(ui, state, step);
  ImGui::EndChild();
  if (parts.claims <= 0) return;
  ImGui::SameLine(0, ui.px(kPadding));
  ImGui::BeginChild("claims", {parts.claims, above});
  draw_claims(ui, step, checks);
  ImGui::EndChild();
}

void draw_beside(Ui& ui, const State& state, const LessonStep& step, const LessonChecks& checks) {
  faint(ui, state.lesson.lesson->title);
  ImGui::BeginChild("words", {0, -2 * ImGui::GetFrameHeightWithSpacing()});
  draw_words(ui, state, step);
  ImGui::Dummy({0, ui.px(kDepth)});
  if (!step.claims.empty()) draw_claims(ui, step, checks);
  ImGui::EndChild();
}

}  // namespace

LessonPlace lesson_place(const Ui& ui, const State& state, float width, float height) {
  if (state.lesson.lesson == nullptr) return {};
  if (state.presenting && width >= kWide * height) return {true, kBeside * width, height};
  const LessonStep& step = state.lesson.lesson->steps[state.lesson.step];
  const float needed = divided(ui, state, step, width - 2 * ui.px(kPadding)).height +
                       ImGui::GetFrameHeightWithSpacing() + 2 * ui.px(kDepth) + ui.px(6);
  return {false, width, std::min(needed, kMostBelow * height)};
}

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, const LessonPlace& place) {
  // Kept: a click on Leave lets go of it.
  const std::shared_ptr<const Lesson> kept = state.lesson.lesson;
  const LessonStep& step = kept->steps[state.lesson.step];
  measure_claims(state, step, checks);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {ui.px(kPadding), ui.px(kDepth)});
  ImGui::PushStyleColor(ImGuiCol_ChildBg, ui.look->panel);
  begin_padded_child("lesson", {place.width, place.height},
                     ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  ImGui::PushID(&step);  // each step scrolls for itself
  if (place.beside) {
    draw_beside(ui, state, step, checks);
  } else {
    draw_below(ui, state, step, checks);
  }
  ImGui::PopID();
  draw_turning(ui, state);
  if (!place.beside) ImGui::SameLine(0, ui.px(16));
  draw_options(ui, state);
  if (!place.beside) {
    ImGui::SameLine(0, ui.px(16));
    draw_title(ui, *kept);
  }
  ImGui::EndChild();
  mark(ui, "lesson");
}

}  // namespace attnscope::window
