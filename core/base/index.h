// The integer that counts and indexes: signed, so that differences of indices are numbers like any.
#pragma once

#include <cstddef>

namespace attnscope {

using Index = std::ptrdiff_t;

}  // namespace attnscope
