// What leaving early costs and saves, threshold by threshold, as a picture.
#pragma once

#include "core/figure/display_list.h"
#include "core/training/calibrate.h"

namespace attnscope {

// Against the threshold: the share of other guesses (or what the loss gains), the tolerance, the
// share of layers that are left out, and the threshold that was chosen.
DisplayList calibration_picture(const Calibration& calibration, double width, double height,
                                const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
