// Dialogs above the window. Each function is called every frame and draws if its dialog is open.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

void draw_file_browser(Ui& ui, State& state);
void draw_export_dialog(Ui& ui, State& state, Painter& painter);
void draw_palette(Ui& ui, State& state, const std::vector<ModelGroup>& models);
void draw_help(Ui& ui, bool& open);
void draw_about(Ui& ui, bool& open, const std::string& renderer);
void draw_documentation(Ui& ui, DocumentationDialog& dialog);
void draw_lesson_list(Ui& ui, State& state);
void draw_cost_dialog(Ui& ui, State& state, Painter& painter);
void draw_calibration_dialog(Ui& ui, State& state, ParameterWidgets& widgets, Painter& painter);
void draw_extrapolation_dialog(Ui& ui, State& state, Painter& painter);
void draw_training_dialog(Ui& ui, State& state, Painter& painter);
void draw_study_dialog(Ui& ui, State& state, Painter& painter);

}  // namespace attnscope::window
