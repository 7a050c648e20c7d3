// Depth view, show=losses: the loss of every layer at every position, and of further targets
// (Al-Rfou et al., 2018).
#pragma once

#include "core/model/logit_lens.h"
#include "core/view/view.h"

namespace attnscope {

bool shows_losses(const ViewSettings& settings);
ViewLayout lay_out_losses(const ViewInput& input);
// "losses": bits by position (rows), layer and further target (columns); "means": a row for each
// column, with the mean and the share of the training in which the layer predicts.
ViewData losses_data(const ViewInput& input);

}  // namespace attnscope
