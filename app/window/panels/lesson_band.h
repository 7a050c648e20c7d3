// A lesson's words in a band below or beside the picture, with what its claims come to.
#pragma once

#include "app/window/jobs/step_pictures.h"
#include "app/window/panels/lesson_words.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Where the words stand: below the picture; on a wide stage beside it, since maps are square. The
// picture is what a lesson is about, so they have at most a share of the space, and scroll.
struct LessonPlace {
  bool beside = false;
  float width = 0, height = 0;  // pixels; 0: there is no lesson
};
LessonPlace lesson_place(const Ui& ui, const State& state, const LessonChecks& checks, float width,
                         float height);

void draw_lesson_band(Ui& ui, State& state, LessonChecks& checks, const StepPictures& pictures,
                      const LessonPlace& place);

}  // namespace attnscope::window
