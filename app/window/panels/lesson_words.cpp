#include "app/window/panels/lesson_words.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace attnscope::window {
namespace {

constexpr float kClaimMark = 1.6F;    // width of "✓" and its gap, in sizes of the claims' font
constexpr double kBeforeClaims = 12;  // units, space above claims below the text

struct Coloured {
  std::string text;
  ImVec4 colour;
};

// Flows coloured words into lines of this width, breaking only at spaces: ImGui also breaks numbers
// at their decimal point. Draws them if `draw` is not null. Returns the height.
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

// Measured value of a claim; before the measurement, a placeholder of the maximum length.
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

// A claim with its value; an unknown value is transparent but has the same width.
std::vector<Coloured> claim_words(const Ui& ui, const Claim& claim, const MeasuredClaim& measured,
                                  bool brief) {
  if (!measured.error.empty()) {
    return {{claim.text, ui.look->text}, {measured.error, ui.look->warning}};
  }
  ImVec4 faint = ui.look->faint;
  if (!measured.check) faint.w = 0;
  return {{claim.text, ui.look->text}, {measured_words(claim, measured.check, brief), faint}};
}

float text_height(ImFont* font, const std::string& text, float width) {
  ImGui::PushFont(font);
  const float height = ImGui::CalcTextSize(on_screen(text).c_str(), nullptr, false, width).y;
  ImGui::PopFont();
  return height + ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace

void measure_claims(const State& state, const LessonStep& step, LessonChecks& cache) {
  // The previous step's run does not apply to this one.
  const bool current = state.run.trace != nullptr && state.is_current();
  const auto trace = current ? state.run.trace : nullptr;
  Traces traces(trace);
  if (current) traces.findings = state.run.all_findings();
  if (cache.step == &step && cache.trace == trace && cache.findings == traces.findings) return;
  cache = {trace, traces.findings, &step, {}};
  for (const Claim& claim : step.claims) {
    MeasuredClaim& measured = cache.claims.emplace_back();
    if (trace == nullptr) continue;
    try {
      measured.check = check(claim, traces);
    } catch (const std::exception& e) {  // the user changed the model or the text
      measured.error = e.what();
    }
  }
}

LessonFonts window_fonts(const Ui& ui) {
  return {ui.fonts.title, ui.fonts.body, ui.fonts.small, ui.fonts.small};
}

LessonFonts lecture_fonts(const Ui& ui, const LessonStep& step, const LessonChecks& checks,
                          float width, float height) {
  LessonFonts type = window_fonts(ui);
  for (const Fonts::Lecture& size : ui.fonts.lecture) {
    type = {size.title, size.text, size.text, ui.fonts.body, true};
    float needed = words_height(type, step, width);
    if (!step.claims.empty()) needed += claims_height(ui, type, step, checks, width);
    if (needed <= height) break;
  }
  return type;
}

float words_height(const LessonFonts& type, const LessonStep& step, float width) {
  return text_height(type.title, step.title, width) + text_height(type.text, step.text, width);
}

float claims_height(const Ui& ui, const LessonFonts& type, const LessonStep& step,
                    const LessonChecks& checks, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  float height = ui.px(kBeforeClaims) + text_height(type.aside, "M", width);
  ImGui::PushFont(type.claims);
  const float room = width - kClaimMark * ImGui::GetFontSize();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    // The height must not shrink when the value arrives, so that the layout stays.
    const auto claim_height = [&](const MeasuredClaim& measured) {
      return flow(claim_words(ui, step.claims[i], measured, type.brief), room, nullptr);
    };
    const bool known = checks.step == &step && i < checks.claims.size();
    height += std::max(claim_height({}), known ? claim_height(checks.claims[i]) : 0) + gap;
  }
  ImGui::PopFont();
  return height;
}

void draw_words(Ui& ui, const LessonFonts& type, const LessonStep& step) {
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

void draw_claims(Ui& ui, const LessonFonts& type, const LessonStep& step,
                 const LessonChecks& cache) {
  ImGui::PushFont(type.aside);
  ImGui::TextColored(ui.look->faint, "Measured in this run");
  ImGui::PopFont();
  ImGui::PushFont(type.claims);
  const float left = ImGui::GetCursorPosX() + kClaimMark * ImGui::GetFontSize();
  ImGui::BeginGroup();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    const std::optional<ClaimCheck>& checked = cache.claims[i].check;
    const ImVec4& colour = !checked         ? ui.look->faint
                           : checked->holds ? ui.look->accent
                                            : ui.look->warning;
    ImGui::TextColored(colour, "%s", !checked ? "–" : (checked->holds ? "✓" : "✗"));
    ImGui::SameLine(left);
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = flow(claim_words(ui, step.claims[i], cache.claims[i], type.brief), width,
                              ImGui::GetWindowDrawList());
    ImGui::Dummy({width, height});
  }
  ImGui::EndGroup();
  ImGui::PopFont();
  mark(ui, "lesson.claims");
}

}  // namespace attnscope::window
