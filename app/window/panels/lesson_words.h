// Text of a lesson's step and results of its claims: measured and drawn.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

struct MeasuredClaim {
  std::optional<ClaimCheck> check;  // empty before the measurement or if it failed
  std::string error;                // reason of the failure
};

// Results of a step's claims; measured again if the trace, the findings or the step change.
struct LessonChecks {
  std::shared_ptr<const Trace> trace;
  Findings findings;
  const LessonStep* step = nullptr;
  std::vector<MeasuredClaim> claims;  // results in the order of the step's claims
};
void measure_claims(const State& state, const LessonStep& step, LessonChecks& cache);

struct LessonFonts {
  ImFont* title;
  ImFont* text;
  ImFont* claims;
  ImFont* aside;
  bool is_brief = false;  // hide the limits of claims that hold
};
LessonFonts window_fonts(const Ui& ui);
// Largest fonts with which the step fits in a column of this size in presentation mode, or the
// smallest fonts if none of them fits.
LessonFonts lecture_fonts(const Ui& ui, const LessonStep& step, const LessonChecks& checks,
                          float width, float height);

// Heights in a column of this width, all in pixels.
float words_height(const LessonFonts& fonts, const LessonStep& step, float width);
float claims_height(const Ui& ui, const LessonFonts& fonts, const LessonStep& step,
                    const LessonChecks& checks, float width);

void draw_words(Ui& ui, const LessonFonts& fonts, const LessonStep& step);
void draw_claims(Ui& ui, const LessonFonts& fonts, const LessonStep& step,
                 const LessonChecks& cache);

}  // namespace attnscope::window
