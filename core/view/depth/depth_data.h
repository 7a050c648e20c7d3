// What the Depth view shows, in numbers.
#pragma once

#include "core/model/logit_lens.h"
#include "core/view/view.h"

namespace attnscope {

// The measure of the view's parameters by which a layer is sure.
Confidence confidence_of(const Values& values);

// Three matrices: "guesses", a row for each layer and position in sight, called by the guess;
// "exits", a row for each of these positions; "shares" of the whole text.
ViewData depth_data(const ViewInput& input);

}  // namespace attnscope
