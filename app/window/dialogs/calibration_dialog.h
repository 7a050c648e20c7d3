// The dialog that chooses the threshold of exits on a text.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/figure/display_list.h"
#include "core/training/calibrate.h"

namespace attnscope::window {

class CalibrationJob;
struct State;

struct CalibrationDialog {
  bool open = false;
  std::string text, other;                  // files
  bool picks_other = false;                 // the browser is open for the other text
  std::optional<CalibrationMethod> method;  // none: what the rule was published with
  double tolerance = 0.1, level = 0.05;
  std::shared_ptr<CalibrationJob> job;
  int version = 0;                         // of the job's numbers that are shown
  std::optional<Calibration> calibration;  // newest that there is
  DisplayList picture;                     // of it; must stay until the frame is drawn
  std::string problem;
};

// Why the shown model's threshold cannot be calibrated; empty: it can.
std::string calibration_refusal(const State& state);
// Starts a calibration, in the place of one that runs.
void start_calibrating(State& state);
// Takes what the job has by now. True when there is something new.
bool take_calibrated(CalibrationDialog& dialog);
// The threshold that was found becomes that of the runs.
void use_calibrated(State& state);

}  // namespace attnscope::window
