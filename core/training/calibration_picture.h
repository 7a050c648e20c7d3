// Figure of a calibration: cost and savings of each threshold.
#pragma once

#include "core/figure/display_list.h"
#include "core/training/calibrate.h"

namespace attnscope {

// Plots the fraction of changed predictions or the additional loss, the tolerance, and the fraction
// of skipped layers over the threshold. Marks the selected threshold.
DisplayList calibration_picture(const Calibration& calibration, double width, double height,
                                const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
