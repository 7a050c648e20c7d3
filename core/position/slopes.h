// Default distance slopes of heads.
#pragma once

#include <vector>

#include "core/base/index.h"

namespace attnscope {

// ALiBi's slopes: m_a = 2^(-8 (a + 1) / h) if h is a power of two. Otherwise the slopes of the next
// lower power of two, then every other slope of the next higher power. Press et al., 2021.
std::vector<double> default_slopes(Index heads);

}  // namespace attnscope
