// Picking a variant, an encoding or a direction with all that it needs (core/experiment/company.h).
// No drawing here.
#pragma once

#include <optional>
#include <string>

#include "app/window/state.h"

namespace attnscope::window {

// For the heads that the choices are for (State::scope). What an earlier pick set along and nobody
// changed since goes back to what it was; nothing picked: as the model, or the other heads.
// `anew`: by its name, so that its parameters are those that show most; else as they are.
void pick_variant(State& state, std::optional<Choice> choice, bool anew);
void pick_encoding(State& state, std::optional<Choice> choice, bool anew);
void pick_direction(State& state, std::optional<bool> causal);

// Whether it is known what goes with what: a model has run. Else refusals below may not be asked
// for.
bool knows_company(const State& state);
// Why it cannot be picked, whatever is set along; empty: it can.
std::string variant_refusal(const State& state, const Choice& choice, bool anew);
std::string encoding_refusal(const State& state, const Choice& choice, bool anew);
std::string direction_refusal(const State& state, bool causal);

// Parameters that hang on the length, such as rows and columns, follow the text when it changes.
void follow_text(State& state);

// "no positions, both directions": what the last pick set along and still holds; empty: nothing.
std::string set_along(const State& state);
// Why the pick alone does not work: "Linear never forms scores of pairs, so ALiBi has nothing to
// change"; may be empty where something was set along.
std::string set_along_reason(const State& state);
// Back to before that pick.
void undo_set_along(State& state);

}  // namespace attnscope::window
