// Axis ticks at round numbers.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

// Round numbers in [least, most], about `count` of them, ascending; none unless least < most.
std::vector<double> round_ticks(double least, double most, int count);

// Tick label with enough decimals to distinguish ticks that are `step` apart.
std::string tick_text(double value, double step);

}  // namespace attnscope
