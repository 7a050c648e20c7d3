// Number of processors available to the process.
#pragma once

#include <filesystem>
#include <string_view>

namespace attnscope {

// Processors in the affinity mask, at most the control group's CPU quota (rounded up), at least 1.
int usable_processors();

// CPU quota, in processors, in the text of a control group's cpu.max (version 2); 0 if unlimited or
// invalid. "150000 100000" is 1.5, "max 100000" is unlimited.
double processors_in_cpu_max(std::string_view text);
// Smallest quota, in processors, of the process's control groups and their parents below `root`; 0
// if unlimited. Reads files of version 2 and of version 1 (cpu.cfs_quota_us, cpu.cfs_period_us).
double cgroup_processors(std::string_view proc_self_cgroup, const std::filesystem::path& root);

}  // namespace attnscope
