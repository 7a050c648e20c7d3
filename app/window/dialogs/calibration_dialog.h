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
  std::string text_file, test_file;         // paths; empty `text_file`: the window's text
  bool has_suggested_text = false;          // a default for `text_file` was suggested
  bool picks_test = false;                  // the open file browser selects `test_file`
  std::optional<CalibrationMethod> method;  // nullopt: the published method of the exit rule
  double tolerance = 0.1, level = 0.05;     // δ and ε of the method
  std::unique_ptr<BackgroundTask<Calibration>> task;  // running calibration; null: none
  std::optional<Calibration> calibration;             // latest result
  DisplayList picture;                                // must live until the frame is drawn
  std::string problem;
  // Number of text windows for calibration, and the inputs of the count.
  struct WindowCount {
    std::string source{};   // model, and its text or text file
    Structure structure{};  // structure used for counting
    Index windows = 0;      // in the part of the text that was read
    bool is_cut = false;    // the text continues after that part
    std::string problem{};  // why counting failed; empty on success
  } window_count;
};

// Starts a calibration, replacing a running one.
void start_calibration(State& state);
// Sets the edited run's exit threshold to the calibrated one.
void use_calibrated_threshold(State& state);

}  // namespace attnscope::window
