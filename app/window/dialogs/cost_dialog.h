// The dialog that measures what variants take against the length.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/analysis/cost_picture.h"

namespace attnscope::window {

class CostJob;

struct CostDialog {
  bool open = false;
  std::vector<std::string> variants;  // chosen, by id; empty before the first time it opens
  Index first = 128, last = 4096;     // tokens
  bool causal = false;
  CostLook look;  // but for the size
  std::shared_ptr<CostJob> job;
  int version = 0;      // of the job's curves that are shown
  CostCurves curves;    // newest that there are; no series: nothing was measured yet
  DisplayList picture;  // of them; must stay until the frame is drawn
  std::string path = "cost.png";
  std::string problem;
  std::string replaced;  // the existing file that was asked about
};

// What is asked for; what is wrong with it is said in `problem`.
CostRequest cost_request(const CostDialog& dialog);
// Starts a measurement, in the place of one that runs.
void start_measuring(CostDialog& dialog);
// Takes what the job has by now. True when there is something new.
bool take_measured(CostDialog& dialog);
// Writes picture or table; asks before it replaces a file (`replaced`). The notice to show, empty:
// there is a problem or a question.
std::string save_cost(CostDialog& dialog, bool dark);

}  // namespace attnscope::window
