#include "core/base/processors.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace attnscope {
namespace {

namespace fs = std::filesystem;

// Contents of a file, or "" if it cannot be read. Files in /proc and /sys report no size.
std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The positive number that `text` begins with, else 0.
double leading_number(std::string_view text) {
  double value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && std::isfinite(value) && value > 0 ? value : 0;
}

double quotient(double quota, double period) {
  return quota > 0 && period > 0 ? quota / period : 0;
}

double group_quota(const fs::path& group) {
  const double quota = processors_in_cpu_max(read_text(group / "cpu.max"));
  if (quota > 0) return quota;
  return quotient(leading_number(read_text(group / "cpu.cfs_quota_us")),
                  leading_number(read_text(group / "cpu.cfs_period_us")));
}

int affinity_processors() {
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  // sched_getaffinity() fails if the machine has more processors than fit into cpu_set_t.
  if (sched_getaffinity(0, sizeof affinity, &affinity) == 0) return CPU_COUNT(&affinity);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

double processors_in_cpu_max(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return 0;
  return quotient(leading_number(text.substr(0, space)), leading_number(text.substr(space + 1)));
}

double cgroup_processors(std::string_view proc_self_cgroup, const fs::path& root) {
  double smallest = 0;
  const auto apply_limit = [&smallest](double limit) {
    if (limit > 0) smallest = smallest > 0 ? std::min(smallest, limit) : limit;
  };
  while (!proc_self_cgroup.empty()) {  // "0::/user.slice", "4:cpu,cpuacct:/job"
    const std::string_view line = proc_self_cgroup.substr(0, proc_self_cgroup.find('\n'));
    proc_self_cgroup.remove_prefix(std::min(proc_self_cgroup.size(), line.size() + 1));
    const std::size_t colon = line.find(':');
    const std::size_t end = colon == line.npos ? line.npos : line.find(':', colon + 1);
    if (end == line.npos) continue;
    const std::string controllers =
        "," + std::string(line.substr(colon + 1, end - colon - 1)) + ",";
    const bool is_version_2 = controllers == ",,";
    if (!is_version_2 && controllers.find(",cpu,") == std::string::npos) continue;
    const fs::path hierarchy_root = is_version_2 ? root : root / "cpu";
    fs::path group(std::string(line.substr(end + 1)));
    for (group = group.relative_path(); !group.empty(); group = group.parent_path()) {
      apply_limit(group_quota(hierarchy_root / group));
    }
    apply_limit(group_quota(hierarchy_root));  // in a container, the process's group is the root
  }
  return smallest;
}

int usable_processors() {
  const double limit = cgroup_processors(read_text("/proc/self/cgroup"), "/sys/fs/cgroup");
  int count = std::max(1, affinity_processors());
  if (limit > 0 && limit < count) count = std::max(1, static_cast<int>(std::ceil(limit)));
  return count;
}

}  // namespace attnscope
