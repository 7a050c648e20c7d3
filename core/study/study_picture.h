// The figure of an experiment: curves over a column, or bars by point.
#pragma once

#include "core/figure/display_list.h"
#include "core/study/study_result.h"

namespace attnscope {

// Draws the rows measured so far, with the conclusion below. Sizes in pixels at scale 1.
DisplayList study_picture(const Study& study, const StudyRows& rows, double width, double height,
                          const Theme& theme, const TextMeasure& measure);

}  // namespace attnscope
