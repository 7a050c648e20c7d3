// Band below or beside the picture with a lesson's text and the results of its claims.
#pragma once

#include "app/window/panels/lesson_words.h"
#include "app/window/panels/step_textures.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Position and size of the band: beside the picture in a wide presentation (maps are square), else
// below the picture. The size is limited to a fraction of the window; longer text scrolls.
struct LessonPlace {
  bool is_beside = false;
  float width = 0, height = 0;  // pixels; 0: no lesson
};
LessonPlace lesson_place(const Ui& ui, const State& state, const LessonChecks& checks, float width,
                         float height);

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, const StepTextures& pictures,
                      const LessonPlace& place);

}  // namespace attnscope::window
