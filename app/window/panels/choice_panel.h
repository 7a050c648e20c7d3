// A list of things that have Infos, of which one is chosen, with its parameters.
#pragma once

#include <functional>
#include <optional>

#include "app/window/panels/parameter_panel.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// What a person changed: which entry is chosen, or parameters of what holds.
enum class Picked { Nothing, Entry, Parameters };
// The list with the chosen one's parameters. An empty choice means what holds without one. `below`
// draws between the two.
Picked draw_choice(Ui& ui, const ChoiceList& list, std::optional<Choice>& choice, ListTexts& texts,
                   const std::function<void()>& below = {});

}  // namespace attnscope::window
