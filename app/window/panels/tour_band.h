// Cards of the opening moves (app/window/tour.h), in a band below the picture.
#pragma once

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Height of the band in pixels; 0 if there are no cards.
float tour_band_height(const Ui& ui, const State& state, float width);
// Draws the band at the cursor.
void draw_tour_band(Ui& ui, State& state, float width, float height);

// If `move` is the current move, outlines its widgets: the current panel from `top` to `bottom`,
// which are y positions on the screen in pixels.
void outline_move(const Ui& ui, const State& state, TourMove move, float top, float bottom);

}  // namespace attnscope::window
