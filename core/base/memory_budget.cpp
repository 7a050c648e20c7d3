#include "core/base/memory_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr double kMega = 1024.0 * 1024, kGiga = 1024 * kMega;

// Reads the number in a file. Returns 0 without a file, or if its text is no number ("max").
std::size_t number_in_file(const char* file) {
  std::ifstream stream(file);
  std::uint64_t number = 0;
  return stream >> number ? number : 0;
}

std::size_t available_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), size = ::sysconf(_SC_PAGE_SIZE);
  std::size_t smallest = pages > 0 && size > 0
                             ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(size)
                             : std::size_t{4} << 30;
  const auto apply_limit = [&smallest](std::size_t limit) {
    if (limit > 0) smallest = std::min(smallest, limit);
  };
  apply_limit(number_in_file("/sys/fs/cgroup/memory.max"));
  apply_limit(number_in_file("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    apply_limit(limit.rlim_cur);
  }
  return smallest;
}

std::atomic<std::size_t>& budget() {
  static std::atomic<std::size_t> bytes(default_memory_budget());
  return bytes;
}

}  // namespace

std::size_t default_memory_budget() {
  return std::max(available_memory() / 4 * 3, kMinMemoryBudget);
}

std::size_t memory_budget() {
  return budget().load(std::memory_order_relaxed);
}

void set_memory_budget(std::size_t bytes) {
  budget().store(bytes, std::memory_order_relaxed);
}

std::size_t memory_from_text(std::string_view text, std::string_view path) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  double bytes = 0;
  if (unit == "G" || unit == "GB" || unit == " GB") bytes = number * kGiga;
  if (unit == "M" || unit == "MB" || unit == " MB") bytes = number * kMega;
  const bool is_valid = error == std::errc() && std::isfinite(bytes) &&
                        bytes >= static_cast<double>(kMinMemoryBudget) && bytes <= 1e6 * kGiga;
  if (!is_valid) {
    throw InputError(std::string(path) + ": expected at least " +
                     memory_text(static_cast<double>(kMinMemoryBudget)) +
                     ", such as \"4G\" or \"512M\", found \"" + std::string(text) + "\"");
  }
  return static_cast<std::size_t>(bytes);
}

std::string memory_text(double bytes) {
  const bool is_in_gigabytes = bytes >= 0.9995 * kGiga;
  const double number = bytes / (is_in_gigabytes ? kGiga : kMega);
  char text[64];
  std::snprintf(text, sizeof text, is_in_gigabytes && number < 9.95 ? "%.1f" : "%.0f", number);
  std::string result = text;
  if (result.ends_with(".0")) result.resize(result.size() - 2);
  return result + (is_in_gigabytes ? " GB" : " MB");
}

}  // namespace attnscope
