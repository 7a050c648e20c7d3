#include "app/window/panels/lesson_words.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace attnscope::window {
namespace {

constexpr float kClaimMark = 1.6F;  // width of "✓" and its gap, relative to the font size
constexpr double kClaimsGap = 12;   // units between the text and the claims below it

struct ColouredText {
  std::string text;
  ImVec4 colour;
};

// Wraps coloured words at spaces to this width. (ImGui would also break numbers at decimal points.)
// Draws them if `draw` is not null. Returns the height.
float flow(const std::vector<ColouredText>& parts, float width, ImDrawList* draw) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float line_height = ImGui::GetTextLineHeight(), space = ImGui::CalcTextSize(" ").x;
  float x = 0, y = 0;
  for (const ColouredText& part : parts) {
    std::istringstream words(part.text);
    for (std::string word; words >> word;) {
      const std::string visible = on_screen(word);
      const float word_width = ImGui::CalcTextSize(visible.c_str()).x;
      if (x > 0 && x + word_width > width) {
        x = 0;
        y += line_height;
      }
      if (draw != nullptr) {
        draw->AddText({origin.x + x, origin.y + y}, packed(part.colour), visible.c_str());
      }
      x += word_width + space;
    }
  }
  return y + line_height;
}

// Measured value of a claim; before the measurement, a placeholder of the maximum length.
std::string measurement_text(const Claim& claim, const std::optional<ClaimCheck>& result,
                             bool is_brief) {
  constexpr std::size_t kUsualLength = 7;  // "0.00123"
  const ClaimCheck placeholder{claim.least.value_or(claim.most.value_or(0)), is_brief};
  const auto text_of = [&](const ClaimCheck& check) {
    const MeasuredText measured = measured_text(claim, check);
    return is_brief && check.holds ? measured.value : to_string(measured);
  };
  std::string text = text_of(result.value_or(placeholder));
  const std::string vanishing_text = text_of({0, true});
  if (!result && text.size() < kUsualLength) text.resize(kUsualLength, '0');
  return !result && vanishing_text.size() > text.size() ? vanishing_text : text;
}

// A claim with its value; a transparent placeholder replaces an unknown value.
std::vector<ColouredText> claim_parts(const Ui& ui, const Claim& claim,
                                      const MeasuredClaim& measured, bool is_brief) {
  if (!measured.error.empty()) {
    return {{claim.text, ui.look->text}, {measured.error, ui.look->warning}};
  }
  ImVec4 faint = ui.look->faint;
  if (!measured.check) faint.w = 0;
  return {{claim.text, ui.look->text}, {measurement_text(claim, measured.check, is_brief), faint}};
}

float text_height(ImFont* font, const std::string& text, float width) {
  ImGui::PushFont(font);
  const float height = ImGui::CalcTextSize(wrapped(text, width).c_str(), nullptr, false, width).y;
  ImGui::PopFont();
  return height + ImGui::GetStyle().ItemSpacing.y;
}

}  // namespace

void measure_claims(const State& state, const LessonStep& step, LessonChecks& cache) {
  // The previous step's run does not apply to this one.
  const bool is_current = state.run.trace != nullptr && state.is_current();
  const auto trace = is_current ? state.run.trace : nullptr;
  Traces traces(trace);
  if (is_current) traces.findings = state.run.all_findings();
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
  LessonFonts fonts = window_fonts(ui);
  for (const Fonts::Lecture& size : ui.fonts.lecture) {
    fonts = {size.title, size.text, size.text, ui.fonts.body, true};
    float needed_height = words_height(fonts, step, width);
    if (!step.claims.empty()) needed_height += claims_height(ui, fonts, step, checks, width);
    if (needed_height <= height) break;
  }
  return fonts;
}

float words_height(const LessonFonts& fonts, const LessonStep& step, float width) {
  return text_height(fonts.title, step.title, width) + text_height(fonts.text, step.text, width);
}

float claims_height(const Ui& ui, const LessonFonts& fonts, const LessonStep& step,
                    const LessonChecks& checks, float width) {
  const float gap = ImGui::GetStyle().ItemSpacing.y;
  float height = ui.px(kClaimsGap) + text_height(fonts.aside, "M", width);
  ImGui::PushFont(fonts.claims);
  const float claim_width = width - kClaimMark * ImGui::GetFontSize();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    // Uses the longest possible value, so that the measured value does not change the layout.
    const auto claim_height = [&](const MeasuredClaim& measured) {
      return flow(claim_parts(ui, step.claims[i], measured, fonts.is_brief), claim_width, nullptr);
    };
    const bool is_measured = checks.step == &step && i < checks.claims.size();
    height += std::max(claim_height({}), is_measured ? claim_height(checks.claims[i]) : 0) + gap;
  }
  ImGui::PopFont();
  return height;
}

void draw_words(Ui& ui, const LessonFonts& fonts, const LessonStep& step) {
  ImGui::BeginGroup();
  ImGui::PushFont(fonts.title);
  paragraph(ui, step.title);
  ImGui::PopFont();
  ImGui::PushFont(fonts.text);
  paragraph(ui, step.text);
  ImGui::PopFont();
  ImGui::EndGroup();
  mark(ui, "lesson.text");
}

void draw_claims(Ui& ui, const LessonFonts& fonts, const LessonStep& step,
                 const LessonChecks& cache) {
  ImGui::PushFont(fonts.aside);
  ImGui::TextColored(ui.look->faint, "Measured in this run");
  ImGui::PopFont();
  ImGui::PushFont(fonts.claims);
  const float left = ImGui::GetCursorPosX() + kClaimMark * ImGui::GetFontSize();
  ImGui::BeginGroup();
  for (std::size_t i = 0; i < step.claims.size(); ++i) {
    const std::optional<ClaimCheck>& result = cache.claims[i].check;
    const ImVec4& colour = !result         ? ui.look->faint
                           : result->holds ? ui.look->accent
                                           : ui.look->warning;
    ImGui::TextColored(colour, "%s", !result ? "–" : (result->holds ? "✓" : "✗"));
    ImGui::SameLine(left);
    const float width = ImGui::GetContentRegionAvail().x;
    const float height = flow(claim_parts(ui, step.claims[i], cache.claims[i], fonts.is_brief),
                              width, ImGui::GetWindowDrawList());
    ImGui::Dummy({width, height});
  }
  ImGui::EndGroup();
  ImGui::PopFont();
  mark(ui, "lesson.claims");
}

}  // namespace attnscope::window
