// What stands in the picture's place, or over it, in words: what to do, what went wrong, how far a
// run is.
#pragma once

#include <string>

#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// In the middle of the place at `at`, in pixels. Returns the y below it.
float draw_message(Ui& ui, ImVec2 at, ImVec2 size, const std::string& title,
                   const std::string& text);

// What to notice in the pair that "Surprise me" found, in a line of its own above the picture;
// nothing where another pair is looked at.
void draw_noticed(Ui& ui, State& state);

// Where there is no run to show: why, and with a refusal what takes it back. Buttons lie over the
// place: an item that covers it takes the pointer from them.
void draw_no_run(Ui& ui, State& state, ImVec2 at, ImVec2 size);

// Of a run that takes long: how much of it is done, as a line along the picture's upper edge, and
// what stands there until then.
void draw_run(Ui& ui, const State& state, ImVec2 at, ImVec2 size);

}  // namespace attnscope::window
