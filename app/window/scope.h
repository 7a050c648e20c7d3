// For which heads a choice of variant or encoding holds: all of them, or those that are looked at.
// No drawing here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"

namespace attnscope::window {

enum class ChoiceScope { All, Layer, Head };

// What was chosen for just this scope at the view's layer and head; nothing: what holds for more
// heads holds here.
std::optional<Choice> scoped_variant(const Experiment& experiment, ChoiceScope scope);
std::optional<Choice> scoped_encoding(const Experiment& experiment, ChoiceScope scope);

// Chooses, or takes the choice back. A choice for a head wins over one for its layer, that over
// one for all.
void choose_variant(Experiment& experiment, ChoiceScope scope, std::optional<Choice> choice);
void choose_encoding(Experiment& experiment, ChoiceScope scope, std::optional<Choice> choice);

// Whether attention, positions or direction were chosen at all; and back to the model's own.
bool has_choices(const Experiment& experiment);
void drop_choices(Experiment& experiment);

// The last choice that holds for the view's layer and head, or null: as the model was trained.
const Choice* last_variant(const Experiment& experiment);
const Choice* last_encoding(const Experiment& experiment);

// "Layer 1, head 2: Local window, ALiBi" for each choice for some heads.
std::vector<std::string> describe_groups(const Experiment& experiment);

}  // namespace attnscope::window
