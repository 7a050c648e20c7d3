// Dialogs above the window. Each function is called every frame and draws if its dialog is open.
#pragma once

#include "app/window/panels/parameter_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Starts the export of a file by `write`, which throws Stopped when cancelled.
void start_export(ExportDialog& dialog, const std::filesystem::path& path,
                  const std::function<void(Task& task)>& write);

void draw_file_browser(Ui& ui, State& state);
void draw_export_dialog(Ui& ui, State& state, Painter& painter);
void draw_palette(Ui& ui, State& state);
void draw_help(Ui& ui, State& state);
void draw_about(Ui& ui, State& state);
void draw_documentation(Ui& ui, State& state);
void draw_lesson_list(Ui& ui, State& state);
void draw_cost_dialog(Ui& ui, State& state, Painter& painter);
void draw_calibration_dialog(Ui& ui, State& state, ParameterWidgets& texts, Painter& painter);

}  // namespace attnscope::window
