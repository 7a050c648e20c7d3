// The words of a lesson's step and what its claims come to: how much room they take, and drawn.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// What the claims of a step come to in the newest run. Made anew when any of this changes.
struct LessonChecks {
  std::shared_ptr<const Trace> trace;
  Findings findings;
  const LessonStep* step = nullptr;
  std::vector<std::optional<ClaimCheck>> checks;  // nothing: cannot be measured in this run
};
void measure_claims(const State& state, const LessonStep& step, LessonChecks& kept);

// The fonts of a step's words.
struct LessonType {
  ImFont* title;
  ImFont* text;
  ImFont* claims;
  ImFont* aside;
  bool brief = false;  // claims that hold without their limits
};
LessonType window_type(const Ui& ui);
// On stage: the largest that fits a column, else the smallest.
LessonType lecture_type(const Ui& ui, const LessonStep& step, const LessonChecks& checks,
                        float width, float height);

// In pixels, in a column so wide.
float words_height(const LessonType& type, const LessonStep& step, float width);
float claims_height(const Ui& ui, const LessonType& type, const LessonStep& step,
                    const LessonChecks& checks, float width);

void draw_words(Ui& ui, const LessonType& type, const LessonStep& step);
void draw_claims(Ui& ui, const LessonType& type, const LessonStep& step, const LessonChecks& kept);

}  // namespace attnscope::window
