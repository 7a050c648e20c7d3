// Counts all memory that this program allocates, including C libraries. Inactive under
// AddressSanitizer, which replaces the allocator: kCountsMemory is false, and counts are 0.
#pragma once

#include <cstddef>

namespace attnscope::fuzz {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool kCountsMemory = false;
#else
inline constexpr bool kCountsMemory = true;
#endif

void begin_counting();       // resets the peak; counts from the current memory on
std::size_t counted_peak();  // peak in bytes after begin_counting()

}  // namespace attnscope::fuzz
