// Scope of a variant or encoding: all heads, or the view's layer or head. No drawing here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/session.h"

namespace attnscope::window {

enum class ChoiceScope { All, Layer, Head };

// The scope's choice at the view's layer and head; nullopt: a wider scope determines the choice.
std::optional<Choice> scoped_variant(const RunView& run_view, ChoiceScope scope);
std::optional<Choice> scoped_encoding(const RunView& run_view, ChoiceScope scope);

// Sets or clears the choice of a scope. A head's choice overrides its layer's, which overrides All.
void choose_variant(RunView& run_view, ChoiceScope scope, std::optional<Choice> choice);
void choose_encoding(RunView& run_view, ChoiceScope scope, std::optional<Choice> choice);

// True if variant, encoding or direction differ from the model's own; clear_choices() resets them.
bool has_choices(const RunView& run_view);
void clear_choices(RunView& run_view);

// The choice in effect for the view's layer and head; null: the model's own choice.
const Choice* effective_variant(const RunView& run_view);
const Choice* effective_encoding(const RunView& run_view);

// "Layer 1, head 2: Local window, ALiBi" for each choice that does not apply to all heads.
std::vector<std::string> describe_groups(const RunView& run_view);

}  // namespace attnscope::window
