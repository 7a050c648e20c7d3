// Choosing a model with something that it reads and the view that shows it (core/view/opening.h),
// and the way back. No drawing here.
#pragma once

#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// For the experiment that the left panels edit.
void choose_model(State& state, const std::string& model);
// Keeps what it reads now for when a model that reads such is chosen again.
void remember_reading(State& state);
// Back to what a model of text read before, or to a sample.
void back_to_text(State& state);
// Takes a sample for the chosen model in place of what it reads.
void choose_sample(State& state, const Sample& sample);

// "the sample “24”, the view Alignment": what the last choice of a model set along and still holds;
// empty: nothing.
std::string opened_along(const State& state);
void undo_opened(State& state);

// After the first run of a model that was chosen: a view that has nothing to say about it gives way
// to the model's own, or to the map.
void settle_view(State& state);

}  // namespace attnscope::window
