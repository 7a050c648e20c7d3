// Selecting a variant, encoding or direction together with its implied changes
// (core/experiment/compatible_choice.h). No drawing here.
#pragma once

#include <optional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// select_variant() and select_encoding() set `choice` for the heads in SelectionState::scope;
// nullopt selects the choice of the wider scope or of the model. resets_parameters: replaces the
// parameters of `choice` by illustrative ones. All three functions first revert the changes that
// the previous selection implied, unless the session was edited afterwards.
void select_variant(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_encoding(State& state, std::optional<Choice> choice, bool resets_parameters);
void select_direction(State& state, std::optional<bool> causal);

// True after a model has run. The *_refusal() functions require this.
bool can_check_compatibility(const State& state);
// Reason why no compatible selection exists; empty if one exists.
std::string variant_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string encoding_refusal(const State& state, const Choice& choice, bool resets_parameters);
std::string direction_refusal(const State& state, bool causal);

// Adapts parameters that depend on the text's length (rows and columns) to the current text.
void adapt_parameters_to_text(State& state);

// Implied changes, such as "no positions, bidirectional"; empty if none or if edited afterwards.
std::string implied_changes(const State& state);
// Reason for the implied changes, such as "Linear never forms scores of pairs, ..."; may be empty.
std::string implied_changes_reason(const State& state);
// Applies RunState::offer. Requires an offer.
void accept_offer(State& state);
// Undoes the selection with its implied changes.
void undo_implied_changes(State& state);

}  // namespace attnscope::window
