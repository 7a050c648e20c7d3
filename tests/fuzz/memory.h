// Counts all memory that this program and its libraries allocate. Under AddressSanitizer, which
// replaces the allocator, kCountsMemory is false and counts are 0.
#pragma once

#include <cstddef>

namespace attnscope::fuzz {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kCountsMemory = false;
#else
inline constexpr bool kCountsMemory = true;
#endif

void begin_counting();       // resets the peak to the current memory
std::size_t counted_peak();  // peak since begin_counting(), in additional bytes

}  // namespace attnscope::fuzz
