// Charts of a training: loss, accuracy, gradients.
#pragma once

#include "app/window/dialogs/training_job.h"
#include "core/figure/display_list.h"

namespace attnscope::window {

// Sizes in units. Axes span the whole training.
DisplayList loss_chart(const TrainingCurve& curve, double width, double height, const Theme& theme);
// Held-out accuracy, and the weight of the best head on the expected keys.
DisplayList accuracy_chart(const TrainingCurve& curve, double width, double height,
                           const Theme& theme);
// Gradient norm by layer, logarithmic.
DisplayList gradient_chart(const TrainingCurve& curve, double width, double height,
                           const Theme& theme);

}  // namespace attnscope::window
