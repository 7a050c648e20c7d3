// A lesson's words in a band below the picture, with what its claims come to.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/window/state.h"
#include "app/window/ui.h"

namespace attnscope::window {

// What the claims of a step come to in the newest run. Made anew when any of this changes.
struct LessonChecks {
  std::shared_ptr<const Trace> trace, reference;
  const LessonStep* step = nullptr;
  std::vector<std::optional<ClaimCheck>> checks;  // nothing: cannot be measured in this run
};

// Pixels that its words need in this width; 0 without a lesson.
float lesson_band_height(const Ui& ui, const State& state, float width);
void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, float width, float height);

}  // namespace attnscope::window
