// Selecting a variant, encoding or direction together with its implied changes
// (core/experiment/compatible_choice.h). No drawing here.
#pragma once

#include <optional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// Select a choice for the heads in SelectionState::scope; nullopt: that of the model or of the
// wider scope. They revert the changes implied by the previous selection unless edited since.
// resets_parameters: uses illustrative parameters instead of those of `choice`.
void select_variant(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_encoding(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_direction(State& state, std::optional<bool> causal);

// True once a model has run; the refusals below require it.
bool can_check_compatibility(const State& state);
// Reason why no compatible selection exists; empty if one exists.
std::string variant_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string encoding_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string direction_refusal(const State& state, bool causal);

// Adapts parameters that depend on the length, such as rows and columns, to a changed text.
void adapt_parameters_to_text(State& state);

// "no positions, bidirectional": implied changes; empty: none, or edited since.
std::string implied_changes(const State& state);
// Reason for these changes, such as "Linear never forms scores of pairs, ..."; may be empty.
std::string implied_changes_reason(const State& state);
// Undoes the selection with its implied changes.
void undo_implied_changes(State& state);

}  // namespace attnscope::window
