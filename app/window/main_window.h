// Layout of the panels in the window.
#pragma once

#include <memory>
#include <string>

#include "app/window/panels/explain_panel.h"
#include "app/window/panels/lesson_band.h"
#include "app/window/panels/model_panel.h"
#include "app/window/panels/step_textures.h"
#include "app/window/panels/view_panel.h"
#include "app/window/state.h"
#include "app/window/widgets/painter.h"
#include "app/window/widgets/ui.h"

namespace attnscope::window {

// Data that persists between frames without being part of the state: caches and lists.
struct Panels {
  ModelPanel model;
  Picture picture;
  PairCache weights;
  LessonChecks lesson;
  ParameterWidgets calibration;
  std::string view;  // id of the view in the last frame
  std::unique_ptr<StepTextures> steps = std::make_unique<StepTextures>();
};

void draw_main_window(Ui& ui, State& state, Panels& panels, Painter& painter);

}  // namespace attnscope::window
