// The model, the attention variant, the positional encoding and where to compute: what a person
// chooses, with the reason where something cannot be chosen.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/ui.h"
#include "core/checkpoint/card.h"

namespace attnscope::window {

// What the lists need beside the state; kept by the program.
struct ModelPanel {
  std::vector<ModelGroup> models;  // bundled ones
  // Of those by what they were trained with that the default model was not; read when first asked
  // for.
  std::optional<std::map<std::string, std::string, std::less<>>> models_by_choice{};
  ListTexts lists;
};

// Which of two compared experiments the left panels edit; nothing where none are compared.
void draw_edited_switch(Ui& ui, State& state);

void draw_model_panel(Ui& ui, State& state, ModelPanel& panel);

}  // namespace attnscope::window
