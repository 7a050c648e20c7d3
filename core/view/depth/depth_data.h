// Numbers, shown layers and headline of the Depth view.
#pragma once

#include "core/model/logit_lens.h"
#include "core/view/parts/token_axis.h"

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
// Savings, and agreement with the last layer unless layers were skipped: it is unknown then.
std::string exits_sentence(const ShownExits& exits, const LogitLens& lens);
// Headlines with the rule and the same numbers, longest first.
std::vector<std::string> exit_headlines(const ShownExits& exits, const LogitLens& lens);

inline constexpr double kMinWord = 2.5;  // em: minimum width of cells with a prediction

// All layers if that many columns fit, else every n-th layer counted from the last one, the first
// layer and the selected layer. Ascending.
std::vector<Index> shown_layers(const ViewInput& input, Index layers, double columns_that_fit);
// Titles and layer numbers of these columns; "2·0": layer 0 in step 2 of a recurrence over depth.
TokenAxis layer_axis(const Trace& trace, const std::vector<Index>& columns, Index layers);

// Three matrices. "guesses": a row for each visible position and layer, labelled by the prediction.
// "exits": a row for each visible position. "shares": savings and agreement in the whole text.
ViewData depth_data(const ViewInput& input);

}  // namespace attnscope
