#include "tests/fuzz/memory.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

std::atomic<std::ptrdiff_t> live_bytes{0}, peak_bytes{0}, bytes_at_begin{0};

#ifndef __SANITIZE_ADDRESS__

constexpr std::size_t kMaxAllocation = std::size_t{4} << 30;  // larger allocations fail

void* count_block(void* block) {
  if (block != nullptr) {
    const auto size = static_cast<std::ptrdiff_t>(malloc_usable_size(block));
    const std::ptrdiff_t live = live_bytes.fetch_add(size) + size;
    std::ptrdiff_t peak = peak_bytes.load();
    while (live > peak && !peak_bytes.compare_exchange_weak(peak, live)) {
    }
  }
  return block;
}

void uncount_block(void* block) {
  if (block != nullptr) live_bytes -= static_cast<std::ptrdiff_t>(malloc_usable_size(block));
}

#endif

}  // namespace

#ifndef __SANITIZE_ADDRESS__
// Replacements for malloc() and related functions, which allocate with glibc's __libc_malloc() etc.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) {
  return size > kMaxAllocation ? nullptr : count_block(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) {
  return count_block(__libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) {
  if (size > kMaxAllocation) return nullptr;
  uncount_block(block);
  void* moved = __libc_realloc(block, size);
  count_block(moved != nullptr || size == 0 ? moved : block);
  return moved;
}
void* memalign(std::size_t alignment, std::size_t size) {
  return size > kMaxAllocation ? nullptr : count_block(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  uncount_block(block);
  __libc_free(block);
}
}
#endif

namespace attnscope::fuzz {

void begin_counting() {
  bytes_at_begin = live_bytes.load();
  peak_bytes = live_bytes.load();
}

std::size_t counted_peak() {
  return static_cast<std::size_t>(peak_bytes.load() - bytes_at_begin.load());
}

}  // namespace attnscope::fuzz
