// How much memory runs may take: a limit that a person sets, and what is refused beyond it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attnscope {

inline constexpr std::size_t kLeastMemoryBudget = std::size_t{256} << 20;

// Of arrays together (core/tensor/storage.h), in bytes; at first default_memory_budget().
std::size_t memory_budget();
void set_memory_budget(std::size_t bytes);

// Three quarters of what the machine has, its control group allows or a limit of addresses leaves.
std::size_t default_memory_budget();

// Who reads what is refused for want of memory: in the window it names the menu and what stands
// beside a parameter, otherwise options and keys. At first false.
void set_told_in_window(bool window);
bool told_in_window();
// "--memory", "menu Window, Memory": where a person sets the budget.
const char* where_memory_is_set();

// "4G", "512M", "1.5GB": units of 1024. InputError beginning with `path` for what is none, or for
// less than kLeastMemoryBudget.
std::size_t memory_from_text(std::string_view text, std::string_view path);
std::string memory_text(double bytes);  // "33 GB", "1.5 GB", "512 MB", in the same units

}  // namespace attnscope
