// Thumbnails of a lesson's steps, for orientation and navigation.
#pragma once

#include "app/window/panels/step_textures.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Size of a thumbnail in a strip `width` pixels wide; at most `max_height` pixels high.
ImVec2 step_picture_size(const Ui& ui, const Lesson& lesson, float width, float max_height);

// Draws the strip at the cursor as one item. A click shows the step.
void draw_step_strip(Ui& ui, State& state, const StepTextures& pictures, const ImVec2& size);

// Draws one thumbnail, or the step's number if it has no picture, on the window's draw list.
void draw_step_picture(const Ui& ui, const StepTextures& pictures, std::size_t step, ImVec2 origin,
                       ImVec2 size);

}  // namespace attnscope::window
