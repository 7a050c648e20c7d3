// The steps of a lesson side by side as small pictures: where one is, and a way to any of them.
#pragma once

#include "app/window/jobs/step_pictures.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// How large each is drawn in a strip of this width, at most so high.
ImVec2 step_picture_size(const Ui& ui, const State& state, float width, float most_height);

// From the cursor on, as one item. A click goes to the step.
void draw_step_strip(Ui& ui, State& state, const StepPictures& pictures, const ImVec2& size);

// One of them, or its number where there is no picture yet. On the window's draw list.
void draw_step_picture(const Ui& ui, const StepPictures& pictures, std::size_t step, ImVec2 at,
                       ImVec2 size);

}  // namespace attnscope::window
