// Memory budget of runs: a limit set by the user. Work that would exceed the limit is rejected.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnscope {

inline constexpr std::size_t kMinMemoryBudget = std::size_t{256} << 20;

// Limit on the total bytes of arrays (core/tensor/storage.h); initially default_memory_budget().
std::size_t memory_budget();
void set_memory_budget(std::size_t bytes);

// Three quarters of the smallest of these sizes: the machine's memory, the process's control group
// limit, the process's address space limit. At least kMinMemoryBudget.
std::size_t default_memory_budget();

// Parses "4G", "512M", "1.5GB" (units of 1024). InputError for invalid text or a size below
// kMinMemoryBudget; `path` begins the message.
std::size_t memory_from_text(std::string_view text, std::string_view path);
std::string memory_text(double bytes);  // "33 GB", "1.5 GB", "512 MB", in units of 1024

}  // namespace attnscope
