// Figure of a calibration: cost and savings of each threshold.
#pragma once

#include "core/figure/display_list.h"
#include "core/training/calibrate.h"

namespace attnscope {

// Fraction of changed guesses (or additional loss), tolerance and fraction of skipped layers as
// functions of the threshold, and the selected threshold.
DisplayList calibration_picture(const Calibration& calibration, double width, double height,
                                const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
