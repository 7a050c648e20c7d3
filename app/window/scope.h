// Scope of a variant or encoding: all heads, or the view's layer or head. No drawing here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/session.h"

namespace attnscope::window {

enum class ChoiceScope { All, Layer, Head };

// The choice for exactly this scope at the view's layer and head; nothing: the wider scope applies.
std::optional<Choice> scoped_variant(const RunView& experiment, ChoiceScope scope);
std::optional<Choice> scoped_encoding(const RunView& experiment, ChoiceScope scope);

// Sets or clears the choice of a scope. A head overrides its layer, a layer overrides all.
void choose_variant(RunView& experiment, ChoiceScope scope, std::optional<Choice> choice);
void choose_encoding(RunView& experiment, ChoiceScope scope, std::optional<Choice> choice);

// True if variant, encoding or direction differ from the model's own; drop_choices() resets them.
bool has_choices(const RunView& experiment);
void drop_choices(RunView& experiment);

// The choice in effect for the view's layer and head; null: the model's own.
const Choice* last_variant(const RunView& experiment);
const Choice* last_encoding(const RunView& experiment);

// "Layer 1, head 2: Local window, ALiBi" for each choice that does not apply to all heads.
std::vector<std::string> describe_groups(const RunView& experiment);

}  // namespace attnscope::window
