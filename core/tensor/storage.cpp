#include "core/tensor/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/base/memory_error.h"
#include "core/base/stop.h"

#if defined(__SANITIZE_ADDRESS__)
#define ATTNSCOPE_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTNSCOPE_ASAN 1
#endif
#endif

namespace attnscope {
namespace {

#ifdef ATTNSCOPE_ASAN
constexpr std::size_t kMinCacheLimit = 0, kMaxCacheLimit = 0;
#else
constexpr std::size_t kMinCacheLimit = std::size_t{64} << 20, kMaxCacheLimit = std::size_t{1} << 30;
#endif
// The memory budget does not apply to smaller blocks.
constexpr std::size_t kMinLimitedBytes = std::size_t{1} << 20;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// Sixteen size classes per power of two, so that at most 1/16 of a block is unused.
std::size_t class_size(std::size_t bytes) {
  const std::size_t step =
      std::max(kStorageAlignment, std::bit_ceil(std::max<std::size_t>(bytes, 1)) / 32);
  const std::size_t size = (bytes + step - 1) / step * step;
  return std::max(size, kStorageAlignment);
}

// Guard bytes past a block's end in tests: NaN as floats, -1 as integers.
constexpr std::size_t kGuardBytes = 256;
constexpr unsigned char kGuard = 0xff;

bool uses_guards() {
  static const bool enabled = std::getenv("ATTNSCOPE_GUARD_STORAGE") != nullptr;
  return enabled;
}

void write_guard(void* block, std::size_t bytes) {
  if (uses_guards()) std::memset(static_cast<char*>(block) + bytes, kGuard, kGuardBytes);
}

void check_guard(const void* block, std::size_t bytes) {
  if (!uses_guards()) return;
  const auto* guard = static_cast<const unsigned char*>(block) + bytes;
  if (std::all_of(guard, guard + kGuardBytes, [](unsigned char c) { return c == kGuard; })) return;
  std::fprintf(stderr, "write past the end of an array of %zu bytes\n", bytes);
  std::abort();
}

// Returns null if the system has no memory.
void* system_block(std::size_t size) {
  if (uses_guards()) size += kGuardBytes;
  const bool huge = size >= kHugePage;
  const std::size_t alignment = huge ? kHugePage : kStorageAlignment;
  void* block = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (block == nullptr) return nullptr;
  if (huge) ::madvise(block, size, MADV_HUGEPAGE);  // a hint; failure is harmless
  return block;
}

class Cache {
 public:
  void* allocate(std::size_t size) {
    if (void* block = reuse_block(size)) return block;
    if (void* fresh = system_block(size)) return fresh;
    release();  // cached blocks of other sizes may occupy the memory
    if (void* fresh = system_block(size)) return fresh;
    const std::lock_guard lock(mutex_);
    statistics_.live_bytes -= size;
    throw WorkError("out of memory: " + std::to_string(size) + " bytes requested");
  }

  // Caches the block, or frees it if there is no memory for the list entry.
  void deallocate(void* block, std::size_t size) noexcept {
    ByAge evicted;
    bool is_cached = false;
    {
      const std::lock_guard lock(mutex_);
      statistics_.live_bytes -= size;
      try {
        insert(block, size);
        is_cached = true;
      } catch (const std::bad_alloc&) {
      }
      while (statistics_.cached_bytes > cache_limit()) evict_oldest(evicted);
    }
    if (!is_cached) std::free(block);
    free_all(evicted);
  }

  void release() {
    ByAge evicted;
    {
      const std::lock_guard lock(mutex_);
      while (!by_age_.empty()) evict_oldest(evicted);
    }
    free_all(evicted);
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    statistics_.peak_bytes = statistics_.live_bytes;
  }

  StorageStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  struct Entry {
    void* block;
    std::size_t size;
  };
  using ByAge = std::list<Entry>;  // oldest first

  // A repeated computation reuses at most what was in use at once. More would only collect blocks
  // of sizes that do not return.
  std::size_t cache_limit() const {
    return std::clamp(largest_live_bytes_, kMinCacheLimit, kMaxCacheLimit);
  }

  // Returns a cached block; null if there is none of this size.
  void* reuse_block(std::size_t size) {
    ByAge evicted;
    {
      const std::lock_guard lock(mutex_);
      check_budget(size);
      auto& blocks = by_size_[size];
      statistics_.live_bytes += size;
      statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.live_bytes);
      largest_live_bytes_ = std::max(largest_live_bytes_, statistics_.live_bytes);
      if (!blocks.empty()) {
        const auto entry = blocks.back();
        blocks.pop_back();
        void* block = entry->block;
        by_age_.erase(entry);
        statistics_.cached_bytes -= size;
        ++statistics_.reused_blocks;
        return block;
      }
      ++statistics_.fresh_blocks;
      while (!by_age_.empty() &&
             statistics_.live_bytes + statistics_.cached_bytes > memory_budget()) {
        evict_oldest(evicted);
      }
    }
    free_all(evicted);
    return nullptr;
  }

  void check_budget(std::size_t size) const {
    const std::size_t limit = memory_budget(), live = statistics_.live_bytes;
    if (size < kMinLimitedBytes || in_parallel_for() || (live <= limit && size <= limit - live))
      return;
    throw BudgetError<WorkError>("memory budget of " + memory_text(static_cast<double>(limit)) +
                                 " exceeded: " + memory_text(static_cast<double>(live)) +
                                 " in use, " + memory_text(static_cast<double>(size)) +
                                 " more needed");
  }

  void insert(void* block, std::size_t size) {
    ByAge entry{{block, size}};
    by_size_[size].push_back(entry.begin());
    by_age_.splice(by_age_.end(), entry);
    statistics_.cached_bytes += size;
  }

  // Must not allocate: memory may be exhausted.
  void evict_oldest(ByAge& evicted) {
    const auto oldest = by_age_.begin();
    auto& blocks = by_size_[oldest->size];
    blocks.erase(std::find(blocks.begin(), blocks.end(), oldest));
    statistics_.cached_bytes -= oldest->size;
    evicted.splice(evicted.end(), by_age_, oldest);
  }

  // Call without the lock: returning pages to the system is slow.
  static void free_all(const ByAge& entries) {
    for (const Entry& entry : entries) std::free(entry.block);
  }

  std::mutex mutex_;
  ByAge by_age_;
  std::unordered_map<std::size_t, std::vector<ByAge::iterator>> by_size_;
  StorageStatistics statistics_;
  std::size_t largest_live_bytes_ = 0;  // since program start
};

// Never destroyed: arrays with static lifetime may outlive other static objects.
Cache& cache() {
  static Cache& instance = *new Cache;
  return instance;
}

}  // namespace

std::shared_ptr<void> allocate_block(std::size_t bytes) {
  return {acquire_block(bytes), [bytes](void* block) { release_block(block, bytes); }};
}

void* acquire_block(std::size_t bytes) {
  void* block = cache().allocate(class_size(bytes));
  write_guard(block, bytes);
  return block;
}

void release_block(void* block, std::size_t bytes) noexcept {
  check_guard(block, bytes);
  cache().deallocate(block, class_size(bytes));
}

StorageStatistics storage_statistics() {
  return cache().statistics();
}

void reset_peak_storage() {
  cache().reset_peak();
}

void release_cached_storage() {
  cache().release();
}

}  // namespace attnscope
