// Memory for arrays: blocks from a cache of freed ones.
//
// Fresh pages cost about as much as the arithmetic that fills them, so freed blocks are kept by
// size class, up to a limit, and handed out again. Large blocks ask for huge pages. With
// AddressSanitizer every block is fresh, so that it sees uses of freed memory. With
// ATTNSCOPE_GUARD_STORAGE in the environment, as in the tests, what is read behind a block's end is
// no number, and what is written there ends the program.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace attnscope {

constexpr std::size_t kStorageAlignment = 64;

// At least `bytes` bytes, aligned to kStorageAlignment, uninitialised. From any thread; the block
// returns to the cache when the last handle goes. Throws WorkError when there is no memory, or none
// left of the budget (core/base/memory_budget.h), but that not in bodies of parallel_for.
std::shared_ptr<void> allocate_block(std::size_t bytes);

// The same without a handle, of at least `bytes` bytes, to be given back with the same number.
void* take_block(std::size_t bytes);
void give_block(void* block, std::size_t bytes) noexcept;

// For std::vectors that grow with the text, so that they count.
template <class T>
struct StorageAllocator {
  using value_type = T;
  StorageAllocator() = default;
  template <class U>
  StorageAllocator(const StorageAllocator<U>&) {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) { return static_cast<T*>(take_block(count * sizeof(T))); }
  void deallocate(T* block, std::size_t count) noexcept { give_block(block, count * sizeof(T)); }
  bool operator==(const StorageAllocator&) const = default;
};
template <class T>
using StorageVector = std::vector<T, StorageAllocator<T>>;

struct StorageStatistics {
  std::size_t live_bytes = 0;     // handed out now
  std::size_t peak_bytes = 0;     // handed out at most since the program or the count began
  std::size_t cached_bytes = 0;   // kept for reuse
  std::size_t fresh_blocks = 0;   // asked from the system since the program began
  std::size_t reused_blocks = 0;  // came out of the cache since then
};
StorageStatistics storage_statistics();
void reset_peak_storage();  // counts the peak from what is handed out now

void release_cached_storage();  // gives all that is kept back to the system

}  // namespace attnscope
