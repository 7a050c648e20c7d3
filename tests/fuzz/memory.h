// All memory that this program asks for, counted: also what C libraries do. Not under
// AddressSanitizer, which has its own allocator (kCountsMemory is false, and numbers are 0).
#pragma once

#include <cstddef>

namespace attnscope::fuzz {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kCountsMemory = false;
#else
inline constexpr bool kCountsMemory = true;
#endif

void begin_counting();       // from what there is now
std::size_t most_counted();  // bytes beyond that at the worst moment since

}  // namespace attnscope::fuzz
