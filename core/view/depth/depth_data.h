// Numbers behind the Depth view.
#pragma once

#include "core/model/logit_lens.h"
#include "core/view/view.h"

namespace attnscope {

Confidence confidence_of(const Values& values);

// Share of tokens that exit with the last layer's prediction at the automatic threshold.
constexpr double kDefaultAgreement = 0.9;
// Exit threshold of the view's settings for the logit lens; if unset, agreeing_threshold() for
// kDefaultAgreement.
double lens_threshold(const Values& values, const LogitLens& lens);

// Exit layer of each token, and the rule that determines it: the run's rule if the run skipped
// layers, else the view's measure and threshold.
struct ShownExits {
  std::vector<Index> layers;  // [L]
  std::string rule;           // "margin ≥ 0.3"
  bool skipped = false;
};
ShownExits shown_exits(const ViewInput& input, const LogitLens& lens);
bool skipped_layers(const Trace& trace);

// Three matrices. "guesses": a row for each visible position and layer, labelled by the prediction.
// "exits": a row for each visible position. "shares": savings and agreement in the whole text.
ViewData depth_data(const ViewInput& input);

}  // namespace attnscope
