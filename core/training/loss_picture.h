// How a training went, as a picture.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/training/loss_log.h"

namespace attnscope {

// The training loss of every step, faint, its running mean, and the held-out loss, over steps.
DisplayList loss_picture(const std::vector<LossRow>& rows, const std::string& title,
                         const Theme& theme);

}  // namespace attnscope
