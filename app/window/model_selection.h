// Selection of a model with a compatible input and view (core/view/opening.h). No drawing here.
#pragma once

#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Selects a model for the run, A or B, that the left panels edit.
void choose_model(State& state, const std::string& model);
// Stores the current input. The next selected model that reads this kind of input starts with it.
void remember_input(State& state);
// Restores the last text input and its model, or a sample.
void return_to_text(State& state);
// Makes a sample the input of the chosen model.
void choose_sample(State& state, const Sample& sample);

// Changes implied by the last model selection, such as "the sample “24”, the view Alignment". Empty
// if there are none, or if the model or the input was edited afterwards.
std::string implied_model_changes(const State& state);
void undo_model_selection(State& state);

// Call when a run is complete. After the first run of a selected model, replaces a view without
// content by the view that the model recommends, or else by Map.
void replace_empty_view(State& state);

// True if the run has no content for the shown view, and the view has an example.
bool offers_example(const State& state);
// Opens the shown view's example, a model with an input that fills the view, as one undoable step.
void open_example(State& state);

}  // namespace attnscope::window
