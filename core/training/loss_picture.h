// Figure of the loss during training.
#pragma once

#include <string>
#include <vector>

#include "core/figure/line_chart.h"
#include "core/training/loss_log.h"

namespace attnscope {

// Chart of loss_picture() without a title.
LineChart loss_line_chart(const std::vector<LossRow>& rows);

// Training loss of every step (faint), its running mean, and the held-out loss, over steps.
DisplayList loss_picture(const std::vector<LossRow>& rows, const std::string& title,
                         const Theme& theme);

}  // namespace attnscope
