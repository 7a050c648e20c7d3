// Depth view of models with early exits: where tokens exit and how much that saves.
#pragma once

#include "core/experiment/exit_study.h"
#include "core/view/view.h"

namespace attnscope {

// True if settings and run select this picture instead of the logit lens.
bool shows_exits(const ViewSettings& settings, const Trace& trace);

// Exit threshold of the view's settings for models with early exits; a constant if unset.
double exit_threshold(const Values& values);

ViewLayout lay_out_exits(const ViewInput& input);
// "exits" by token; "confidence", "distribution" by token and layer; token means; "work" (cost).
ViewData exits_data(const ViewInput& input);

// Exit settings of the picture. Threshold: the run's, else the view's. Decay: the view's, else the
// model's.
struct ExitSetting {
  double threshold = 0, decay = 0;
};
ExitSetting exit_setting(const ViewInput& input, const ExitStudy& study);
// Exit layers: measured ones if available for the settings, else derived from all recorded layers.
struct TokenExits {
  std::vector<Index> layers;               // [L] from 0
  std::shared_ptr<const ExitWork> work{};  // null: not measured (yet)
};
TokenExits token_exits(const ViewInput& input, const ExitStudy& study);

// Two numbers for each layer, [2, N]. With an exit distribution q: q and its target q*. Without q:
// the confidence, and 1 if the prediction equals the last layer's, else 0. `token` -1: means over
// all tokens with a successor.
Tensor exit_shares(const ExitStudy& study, Index token);

}  // namespace attnscope
