// Numbers in the cells of maps and next to them.
#pragma once

#include <string>

namespace attnscope {

// Formats the numbers of a map alike, with enough decimals for two significant digits of `largest`,
// at least two; uses brief() if that takes more than four decimals or `largest` is at least 100.
// Returns "" for a number that would be shown as zero, unless `largest` is 0.
std::string weight_text(double value, double largest);

}  // namespace attnscope
