// Round numbers along an axis.
#pragma once

#include <string>
#include <vector>

namespace attnscope {

// Round numbers within [least, most], about `count` of them, rising; none unless least < most.
std::vector<double> round_ticks(double least, double most, int count);

// A tick's number, with as many decimals as it takes to tell ticks apart that are `step` apart.
std::string tick_text(double value, double step);

}  // namespace attnscope
