// The dialog that chooses the threshold of exits on a text.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/figure/display_list.h"
#include "core/model/structure.h"
#include "core/training/calibrate.h"

namespace attnscope::window {

class CalibrationJob;
struct State;

struct CalibrationDialog {
  bool open = false;
  std::string text, other;                  // files; no text: the window's own
  bool asked = false;                       // whether `text` was looked for once
  bool picks_other = false;                 // the browser is open for the other text
  std::optional<CalibrationMethod> method;  // none: what the rule was published with
  double tolerance = 0.1, level = 0.05;
  std::shared_ptr<CalibrationJob> job;
  int version = 0;                         // of the job's numbers that are shown
  std::optional<Calibration> calibration;  // newest that there is
  DisplayList picture;                     // of it; must stay until the frame is drawn
  std::string problem;
  // What there is to calibrate on.
  struct Counted {
    std::string of{};       // model and text
    Structure structure{};  // with which they are counted
    Index windows = 0;      // of at most what was read
    bool more = false;      // there is more text than was counted
    std::string problem{};  // why there is nothing
  } counted;
};

// Starts a calibration, in the place of one that runs.
void start_calibrating(State& state);
// Takes what the job has by now. True when there is something new.
bool take_calibrated(CalibrationDialog& dialog);
// The threshold that was found becomes that of the runs.
void use_calibrated(State& state);

}  // namespace attnscope::window
