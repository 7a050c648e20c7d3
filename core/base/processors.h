// How many processors this process may use.
#pragma once

#include <filesystem>
#include <string_view>

namespace attnscope {

// Those that its affinity names, no more than its control group has time for (rounded up), at
// least 1.
int usable_processors();

// What a control group's limit comes to, in processors; 0: there is none, or it cannot be read.
// Version 2, the file cpu.max: "150000 100000" are 1.5, "max 100000" is none.
double processors_in_cpu_max(std::string_view text);
// The least along the group's path below `root`, as /proc/self/cgroup names it; version 2, and
// version 1 (cpu.cfs_quota_us, cpu.cfs_period_us).
double processors_of_group(std::string_view proc_self_cgroup, const std::filesystem::path& root);

}  // namespace attnscope
