// What the Depth view shows, in numbers.
#pragma once

#include "core/model/logit_lens.h"
#include "core/view/view.h"

namespace attnscope {

// The measure of the view's parameters by which a layer is sure.
Confidence confidence_of(const Values& values);

// The layer after which each token exits, and by what: by the view's measure and threshold, which
// says what could be saved; or as the run had it, where layers were skipped.
struct ShownExits {
  std::vector<Index> layers;  // [L]
  std::string rule;           // "margin ≥ 0.3"
  bool skipped = false;
};
ShownExits shown_exits(const ViewInput& input, const LogitLens& lens);
bool skipped_layers(const Trace& trace);

// Three matrices: "guesses", a row for each layer and position in sight, called by the guess;
// "exits", a row for each of these positions; "shares" of the whole text.
ViewData depth_data(const ViewInput& input);

}  // namespace attnscope
