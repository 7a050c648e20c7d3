// Text of a lesson's step and results of its claims: measured and drawn.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Results of a step's claims in the latest run. Measured again when any of this changes.
struct MeasuredClaim {
  std::optional<ClaimCheck> check;  // empty before the measurement and if it failed
  std::string error;                // reason of the failure
};
struct LessonChecks {
  std::shared_ptr<const Trace> trace;
  Findings findings;
  const LessonStep* step = nullptr;
  std::vector<MeasuredClaim> claims;  // of the step, in its order
};
void measure_claims(const State& state, const LessonStep& step, LessonChecks& cache);

// Fonts of a step's text.
struct LessonFonts {
  ImFont* title;
  ImFont* text;
  ImFont* claims;
  ImFont* aside;
  bool brief = false;  // claims that hold are shown without their limits
};
LessonFonts window_fonts(const Ui& ui);
// On stage: the largest fonts with which the step fits a column, else the smallest.
LessonFonts lecture_fonts(const Ui& ui, const LessonStep& step, const LessonChecks& checks,
                          float width, float height);

// Heights in pixels, in a column of this width.
float words_height(const LessonFonts& type, const LessonStep& step, float width);
float claims_height(const Ui& ui, const LessonFonts& type, const LessonStep& step,
                    const LessonChecks& checks, float width);

void draw_words(Ui& ui, const LessonFonts& type, const LessonStep& step);
void draw_claims(Ui& ui, const LessonFonts& type, const LessonStep& step,
                 const LessonChecks& cache);

}  // namespace attnscope::window
