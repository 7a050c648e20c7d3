// Toolbar above the picture: tabs of the views, layer, head, colours and parameters.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Cached notes of the list of heads: measuring all heads of a layer in each frame would be slow.
struct HeadNotes {
  std::weak_ptr<const Trace> trace;  // weak, so that it does not keep unused traces
  Index layer = -1;
  TracePart part;
  std::vector<RowNote> heads;  // by head
};

// `widgets`: widgets of the view's parameters.
void draw_toolbar(Ui& ui, State& state, ParameterWidgets& widgets, HeadNotes& notes);

}  // namespace attnscope::window
