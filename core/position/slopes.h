// How steep the heads of a layer are where none was trained.
#pragma once

#include <vector>

#include "core/base/index.h"

namespace attnscope {

// ALiBi's: m_a = 2^(-8 (a + 1) / h) for a power of two; else the slopes of the power of two below,
// then every other one of the power of two above. Press et al., 2021.
std::vector<double> default_slopes(Index heads);

}  // namespace attnscope
