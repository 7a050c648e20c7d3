// Text in several lines.
#pragma once

#include <string>
#include <vector>

#include "core/figure/display_list.h"

namespace attnscope {

// Wraps text at spaces into lines of at most `width` pixels; a longer word has a line of its own.
std::vector<std::string> wrap_text(const std::string& text, const TextMeasure& measure, double size,
                                   double width);

}  // namespace attnscope
