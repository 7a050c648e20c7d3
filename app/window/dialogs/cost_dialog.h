// Dialog that measures the cost of variants as a function of length.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/window/dialogs/dialog_parts.h"
#include "app/window/jobs/background_task.h"
#include "core/analysis/cost_plot.h"

namespace attnscope::window {

struct CostDialog : ResultFile {
  CostDialog() { path = "cost.png"; }

  bool open = false;
  std::vector<std::string> variants;  // selected ids; empty before the dialog first opens
  Index first = 128, last = 4096;     // tokens
  bool causal = false;
  CostPlotOptions look;                              // the plot's size is set when drawing
  std::unique_ptr<BackgroundTask<CostCurves>> task;  // running measurement; null: none
  CostCurves curves;                                 // latest results; no series before the first
  DisplayList picture;                               // must live until the frame is drawn
};

CostRequest cost_request(const CostDialog& dialog);
// Starts a measurement, replacing a running one.
void start_cost_measurement(CostDialog& dialog);
// Moves new results of the measurement into the dialog. True if something changed.
bool take_cost_results(CostDialog& dialog);
// Writes the curves as a picture or table, as save_result().
std::string save_cost(CostDialog& dialog, bool dark);

}  // namespace attnscope::window
