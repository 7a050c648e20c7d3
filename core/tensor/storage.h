// Memory for arrays, with a cache of freed blocks.
//
// Fresh pages cost about as much time as the arithmetic that fills them. Freed blocks are therefore
// cached by size class and reused, up to the largest amount that was in use at once, at least 64 MiB
// and at most 1 GiB. Large blocks request huge pages. With
// AddressSanitizer every block is fresh, so that use after free is detected. With
// ATTNSCOPE_GUARD_STORAGE in the environment, as in the tests, reads past a block's end yield NaN
// and writes past it abort the program.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace attnscope {

constexpr std::size_t kStorageAlignment = 64;

// Returns at least `bytes` uninitialised bytes, aligned to kStorageAlignment. Destroying the last
// handle returns the block to the cache. WorkError if the system has no memory or the budget
// (core/base/memory_budget.h) is exceeded; parallel_for ignores the budget. Thread-safe.
std::shared_ptr<void> allocate_block(std::size_t bytes);

// Like allocate_block() without a handle; release_block() requires the same `bytes`.
void* acquire_block(std::size_t bytes);
void release_block(void* block, std::size_t bytes) noexcept;

// Allocator for std::vectors that grow with the text: their memory counts towards the budget.
template <class T>
struct StorageAllocator {
  using value_type = T;
  StorageAllocator() = default;
  template <class U>
  StorageAllocator(const StorageAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) { return static_cast<T*>(acquire_block(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { release_block(block, count * sizeof(T)); }
  bool operator==(const StorageAllocator&) const = default;
};
template <class T>
using StorageVector = std::vector<T, StorageAllocator<T>>;

struct StorageStatistics {
  std::size_t live_bytes = 0;     // bytes in use
  std::size_t peak_bytes = 0;     // maximum of live_bytes since program start or reset
  std::size_t cached_bytes = 0;   // cached for reuse
  std::size_t fresh_blocks = 0;   // allocated from the system since program start
  std::size_t reused_blocks = 0;  // served from the cache since program start
};
StorageStatistics storage_statistics();
void reset_peak_storage();  // sets peak_bytes to live_bytes

void release_cached_storage();  // returns cached blocks to the system

}  // namespace attnscope
