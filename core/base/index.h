// Signed integer type for counts and indices; differences of indices may be negative.
#pragma once

#include <cstddef>

namespace attnscope {

using Index = std::ptrdiff_t;

}  // namespace attnscope
