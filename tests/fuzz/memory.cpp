#include "tests/fuzz/memory.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace {

std::atomic<std::ptrdiff_t> live{0}, most{0}, begun{0};

#ifndef __SANITIZE_ADDRESS__

constexpr std::size_t kAtOnce = std::size_t{4} << 30;  // larger allocations fail

void* counted(void* block) {
  if (block != nullptr) {
    const auto size = static_cast<std::ptrdiff_t>(malloc_usable_size(block));
    const std::ptrdiff_t now = live.fetch_add(size) + size;
    std::ptrdiff_t before = most.load();
    while (now > before && !most.compare_exchange_weak(before, now)) {
    }
  }
  return block;
}

void discount(void* block) {
  if (block != nullptr) live -= static_cast<std::ptrdiff_t>(malloc_usable_size(block));
}

#endif

}  // namespace

#ifndef __SANITIZE_ADDRESS__
// glibc's allocation functions, under the names that a program can replace.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
void __libc_free(void* block);

void* malloc(std::size_t size) {
  return size > kAtOnce ? nullptr : counted(__libc_malloc(size));
}
void* calloc(std::size_t count, std::size_t size) {
  return counted(__libc_calloc(count, size));
}
void* realloc(void* block, std::size_t size) {
  if (size > kAtOnce) return nullptr;
  discount(block);
  void* moved = __libc_realloc(block, size);
  counted(moved != nullptr || size == 0 ? moved : block);
  return moved;
}
void* memalign(std::size_t alignment, std::size_t size) {
  return size > kAtOnce ? nullptr : counted(__libc_memalign(alignment, size));
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}
void free(void* block) {
  discount(block);
  __libc_free(block);
}
}
#endif

namespace attnscope::fuzz {

void begin_counting() {
  begun = live.load();
  most = live.load();
}

std::size_t peak_counted() {
  return static_cast<std::size_t>(most.load() - begun.load());
}

}  // namespace attnscope::fuzz
