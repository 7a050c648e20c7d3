// Dialog that calibrates the exit threshold on a text.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/window/jobs/background_task.h"
#include "core/figure/display_list.h"
#include "core/model/structure.h"
#include "core/training/calibrate.h"

namespace attnscope::window {

struct State;

struct CalibrationDialog {
  bool open = false;
  std::string text, other;                  // files; no text: the window's own
  bool has_suggested_text = false;          // `text` was suggested once
  bool browses_other = false;               // the browser is open for the other text
  std::optional<CalibrationMethod> method;  // none: the rule's published method
  double tolerance = 0.1, level = 0.05;
  std::unique_ptr<BackgroundTask<Calibration>> task;  // null: none is running
  std::optional<Calibration> calibration;             // newest
  DisplayList picture;                                // must live until the frame is drawn
  std::string problem;
  // Amount of text available for calibration.
  struct WindowCount {
    std::string of{};       // model and text
    Structure structure{};  // structure used for counting
    Index windows = 0;      // in the beginning that was read
    bool more = false;      // the text continues
    std::string problem{};  // why there are none
  } window_count;
};

// Starts a calibration, replacing a running one.
void start_calibration(State& state);
// Sets the runs' exit threshold to the result.
void use_calibrated_threshold(State& state);

}  // namespace attnscope::window
