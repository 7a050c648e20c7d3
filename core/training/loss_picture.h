// Figure of the loss during training.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"
#include "core/training/loss_log.h"

namespace attnscope {

// Training loss of every step (faint), its running mean, and the held-out loss, over steps.
DisplayList loss_picture(const std::vector<LossRow>& rows, const std::string& title,
                         const Theme& theme);

}  // namespace attnscope
