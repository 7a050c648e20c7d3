#include "app/window/panels/lesson_words.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace attnscope::window {

namespace {

constexpr float kClaimMark = 1.6F;    // of the claims' size: "✓" and its gap
constexpr double kBeforeClaims = 12;  // units, where they stand below the words

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

// What stands behind a claim; where that is not known yet, as much as it may be.
std::string measured_words(const Claim& claim, const std::optional<ClaimCheck>& checked,
                           bool brief) {
  constexpr std::size_t kUsual = 7;  // "0.00123"
  const ClaimCheck limit{claim.least.value_or(claim.most.value_or(0)), false};
  std::string measured = measured_text(claim, checked.value_or(limit));
  const std::string vanishing = measured_text(claim, {0, true});
  const bool fails = checked && !checked->holds;
  if (brief && !fails) measured.resize(std::min(measured.find(" ("), measured.size()));
  if (!checked && measured.size() < kUsual) measured.resize(kUsual, '0');
  return !checked && vanishing.size() > measured.size() ? vanishing : measured;
}

// A claim with its number; one that is not known yet takes up as much space.
std::vector<Coloured> claim_words(const Ui& ui, const Claim& claim,
                                  const std::optional<ClaimCheck>& checked, bool brief) {
  ImVec4 faint = ui.look->faint;
  if (!checked) faint.w = 0;
  return {{claim.text, ui.look->text}, {measured_words(claim, checked, brief), faint}};
}

float text_height(ImFont* font, const std::string& text, float width) {
  ImGui::PushFont(font);
  const float height = ImGui::CalcTextSize(on_screen(text).c_str(), nullptr, false, width).y;
  ImGui::PopFont();
  return height + ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace

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

LessonType window_type(const Ui& ui) {
  return {ui.fonts.title, ui.fonts.body, ui.fonts.small, ui.fonts.small};
}

LessonType lecture_type(const Ui& ui, const LessonStep& step, const LessonChecks& checks,
                        float width, float height) {
  LessonType type = window_type(ui);
  for (const Fonts::Lecture& size : ui.fonts.lecture) {
    type = {size.title, size.text, size.text, ui.fonts.body, true};
    float needed = words_height(type, step, width);
    if (!step.claims.empty()) needed += claims_height(ui, type, step, checks, width);
    if (needed <= height) break;
  }
  return type;
}

float words_height(const LessonType& type, const LessonStep& step, float width) {
  return text_height(type.title, step.title, width) + text_height(type.text, step.text, width);
}

float claims_height(const Ui& ui, const LessonType& type, const LessonStep& step,
                    const LessonChecks& checks, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  float height = ui.px(kBeforeClaims) + text_height(type.aside, "M", width);
  ImGui::PushFont(type.claims);
  const float room = width - kClaimMark * ImGui::GetFontSize();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    // Not less when the number comes, so that nothing jumps.
    const auto high = [&](const std::optional<ClaimCheck>& checked) {
      return flow(claim_words(ui, step.claims[i], checked, type.brief), room, nullptr);
    };
    const bool known = checks.step == &step && i < checks.checks.size() && checks.checks[i];
    height += std::max(high({}), known ? high(checks.checks[i]) : 0) + gap;
  }
  ImGui::PopFont();
  return height;
}

void draw_words(Ui& ui, const LessonType& type, const LessonStep& step) {
  ImGui::BeginGroup();
  ImGui::PushFont(type.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  ImGui::PushFont(type.text);
  paragraph(ui, step.text);
  ImGui::PopFont();
  ImGui::EndGroup();
  mark(ui, "lesson.text");
}

void draw_claims(Ui& ui, const LessonType& type, const LessonStep& step, const LessonChecks& kept) {
  ImGui::PushFont(type.aside);
  ImGui::TextColored(ui.look->faint, "Measured in this run");
  ImGui::PopFont();
  ImGui::PushFont(type.claims);
  const float left = ImGui::GetCursorPosX() + kClaimMark * ImGui::GetFontSize();
  ImGui::BeginGroup();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    const std::optional<ClaimCheck>& checked = kept.checks[i];
    const ImVec4& colour = !checked         ? ui.look->faint
                           : checked->holds ? ui.look->accent
                                            : ui.look->warning;
    ImGui::TextColored(colour, "%s", !checked ? "–" : (checked->holds ? "✓" : "✗"));
    ImGui::SameLine(left);
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = flow(claim_words(ui, step.claims[i], checked, type.brief), width,
                              ImGui::GetWindowDrawList());
    ImGui::Dummy({width, height});
  }
  ImGui::EndGroup();
  ImGui::PopFont();
  mark(ui, "lesson.claims");
}

}  // namespace attnscope::window
