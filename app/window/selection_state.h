// Part of the window's state: scope and implied changes of selected variants and models.
#pragma once

#include <optional>
#include <string>

#include "app/window/scope.h"
#include "core/view/opening.h"

namespace attnscope::window {

// Implied changes of the last selection of a variant, encoding or direction (variant_selection.h),
// or of a model (model_selection.h).
struct ImpliedChanges {
  RunView previous, selected{};
  std::string text{};                    // "no positions, bidirectional"
  std::string reason{};                  // reason for the changes; may be empty
  Index tokens = 0;                      // number of tokens of the whole text
  ChoiceScope scope = ChoiceScope::All;  // heads of the selection
  bool is_for_b = false;
};

struct SelectionState {
  ChoiceScope scope = ChoiceScope::All;   // heads that a selected variant or encoding applies to
  std::optional<ImpliedChanges> implied;  // by the last variant, encoding or direction
  std::optional<ImpliedChanges> model_changes;  // implied by the last selected model
  InputHistory previous_inputs;                 // last input of each kind of model
  // The view is known to have content with the selected model, or was replaced.
  bool has_checked_view = true;
  std::string store;  // last opened datastore, even while no retrieval is active
};

}  // namespace attnscope::window
