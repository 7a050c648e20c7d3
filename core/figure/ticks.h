// Axis ticks at round numbers.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

// About `count` round numbers in [minimum, maximum], ascending; none unless minimum < maximum.
std::vector<double> round_ticks(double minimum, double maximum, int count);

// Tick label with enough decimals to distinguish ticks that are `step` apart.
std::string tick_text(double value, double step);

}  // namespace attnscope
