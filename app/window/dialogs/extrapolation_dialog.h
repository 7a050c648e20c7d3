// Dialog that evaluates models on a text at increasing window lengths.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/dialogs/dialog_parts.h"
#include "app/window/jobs/background_task.h"
#include "core/figure/display_list.h"
#include "core/training/extrapolation.h"

namespace attnscope::window {

struct State;

struct ExtrapolationDialog : ResultFile {
  ExtrapolationDialog() { path = "lengths.png"; }

  bool open = false;
  std::vector<std::string> available;  // models with bits per byte; empty before the first opening
  std::vector<std::string> models;     // selected ones
  std::string text_file;               // path; empty: the window's text
  Index first = 64, last = 512;        // tokens
  std::unique_ptr<BackgroundTask<LengthCurves>> task;  // running evaluation; null: none
  LengthCurves curves;                                 // latest results
  DisplayList picture;                                 // must live until the frame is drawn
};

// Opens the dialog; the first time with the bundled models of different encodings selected.
void open_extrapolation_dialog(State& state);
// Starts an evaluation, replacing a running one. window_text: used without a file.
void start_extrapolation(ExtrapolationDialog& dialog, const std::string& window_text);
// Moves new results into the dialog. True if something changed.
bool take_extrapolation_results(ExtrapolationDialog& dialog);
// Writes the curves as a picture or table, as save_result().
std::string save_extrapolation(ExtrapolationDialog& dialog, bool dark);

}  // namespace attnscope::window
