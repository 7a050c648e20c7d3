// Combo box, and the parameters of the selected entry.
#pragma once

#include <functional>
#include <optional>

#include "app/window/panels/parameter_panel.h"
#include "app/window/widgets/selection.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Change made by the user: another entry, or parameters of the selected one.
enum class ChoiceEdit { Nothing, Entry, Parameters };
// Draws the list and the parameters of the selected entry; `draw_between` is called between the
// two. If `choice` is empty, the inherited method is selected.
ChoiceEdit draw_choice(Ui& ui, const ChoiceList& list, std::optional<Choice>& choice,
                       ParameterWidgets& widgets, const std::function<void()>& draw_between = {});

}  // namespace attnscope::window
