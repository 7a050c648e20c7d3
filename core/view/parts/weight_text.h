// Numbers in the cells of maps and next to them.
#pragma once

#include <string>

namespace attnscope {

// Formats the numbers of a map alike: enough decimals for two significant digits of `largest`,
// at least two. "" for a number that these decimals would show as zero, unless it is 0 and
// `largest`, too.
std::string weight_text(double value, double largest);

}  // namespace attnscope
