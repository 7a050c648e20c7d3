// Charts of a learning curve: loss, score and gradient norms over the steps.
//
// The sizes of the charts are the caller's. Their axes span the whole training if its length is
// known. `reference`: a second training, drawn dashed; null: none.
#pragma once

#include "core/figure/line_chart.h"
#include "core/training/learning_curve.h"

namespace attnscope {

LineChart loss_chart(const LearningCurve& curve, const LearningCurve* reference = nullptr);
// Held-out accuracy and the weight of the best head on the expected keys; bits per byte for tasks
// without an accuracy.
LineChart score_chart(const LearningCurve& curve, const LearningCurve* reference = nullptr);
// Gradient norm by layer, logarithmic. With a reference: the norm of the whole gradient of both.
LineChart gradient_chart(const LearningCurve& curve, const LearningCurve* reference = nullptr);

// Adds a vertical line at `step` through the range of the curves.
void mark_step(LineChart& chart, Index step, LineStroke stroke = LineStroke::Solid);

// Numbers of the last row up to `step`: "step 200 of 400: loss 0.31, held out 0.35, accuracy 0.91".
// Empty without such a row.
std::string describe_step(const LearningCurve& curve, Index step);

}  // namespace attnscope
