// The model, the attention variant, the positional encoding and where to compute: what a person
// chooses, with the reason where something cannot be chosen.
#pragma once

#include <string>
#include <vector>

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// What the lists need beside the state; kept by the program.
struct ModelPanel {
  std::vector<std::string> models;  // bundled ones
  ListTexts lists;
};

// Which of two compared experiments the left panels edit; nothing where none are compared.
void draw_edited_switch(Ui& ui, State& state);

void draw_model_panel(Ui& ui, State& state, ModelPanel& panel);

}  // namespace attnscope::window
