// Selecting a variant, encoding or direction together with its implied changes
// (core/experiment/compatible_choice.h). No drawing here.
#pragma once

#include <optional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Select a choice for the heads in SelectionState::scope; nullopt: the choice of the wider scope or
// of the model. First revert the changes implied by the previous selection, unless the session was
// edited afterwards. resets_parameters: use illustrative parameters instead of those of `choice`.
void select_variant(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_encoding(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_direction(State& state, std::optional<bool> causal);

// True after a model has run. The refusals below require it.
bool can_check_compatibility(const State& state);
// Reason why no compatible selection exists; empty if one exists.
std::string variant_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string encoding_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string direction_refusal(const State& state, bool causal);

// Adapts parameters that depend on the text's length (rows and columns) to the current text.
void adapt_parameters_to_text(State& state);

// "no positions, bidirectional": implied changes. Empty: none, or the session was edited later.
std::string implied_changes(const State& state);
// Reason for the implied changes, such as "Linear never forms scores of pairs, ..."; may be empty.
std::string implied_changes_reason(const State& state);
// Undoes the selection with its implied changes.
void undo_implied_changes(State& state);

}  // namespace attnscope::window
