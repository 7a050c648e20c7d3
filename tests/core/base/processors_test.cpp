#include "core/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Processors, FollowAffinityMask) {
  EXPECT_GE(usable_processors(), 1);
  int usable = 0;
  std::thread([&usable] {  // affinity is per thread
    cpu_set_t allowed_set, single_set;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed_set, &allowed_set), 0);
    int first = 0;
    while (!CPU_ISSET(first, &allowed_set)) ++first;
    CPU_ZERO(&single_set);
    CPU_SET(first, &single_set);
    ASSERT_EQ(sched_setaffinity(0, sizeof single_set, &single_set), 0);
    usable = usable_processors();
  })
      .join();
  EXPECT_EQ(usable, 1);
}

TEST(Processors, ReadCgroupLimit) {
  EXPECT_EQ(processors_in_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(processors_in_cpu_max("max 100000\n"), 0);
  for (const char* invalid : {"", "100000", "-1 100000", "5 0", "x y", "1e999 1"}) {
    EXPECT_EQ(processors_in_cpu_max(invalid), 0) << invalid;
  }
}

TEST(Processors, UseSmallestLimitAlongCgroupPath) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "a" / "b");
  write_file(folder.path() / "a" / "cpu.max", "200000 100000\n");
  write_file(folder.path() / "a" / "b" / "cpu.max", "max 100000\n");
  EXPECT_EQ(cgroup_processors("0::/a/b\n", folder.path()), 2);
  EXPECT_EQ(cgroup_processors("0::/a\n", folder.path()), 2);
  EXPECT_EQ(cgroup_processors("0::/\n", folder.path()), 0);
  EXPECT_EQ(cgroup_processors("0::/gone\n", folder.path()), 0);
  EXPECT_EQ(cgroup_processors("nonsense", folder.path()), 0);
  write_file(folder.path() / "cpu.max",
             "50000 100000\n");  // inside a container, the root is the container's group
  EXPECT_EQ(cgroup_processors("0::/a/b\n", folder.path()), 0.5);
}

TEST(Processors, ReadCgroupVersion1) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "cpu" / "job");
  write_file(folder.path() / "cpu" / "job" / "cpu.cfs_quota_us", "300000\n");
  write_file(folder.path() / "cpu" / "job" / "cpu.cfs_period_us", "100000\n");
  write_file(folder.path() / "cpu" / "cpu.cfs_quota_us", "-1\n");
  write_file(folder.path() / "cpu" / "cpu.cfs_period_us", "100000\n");
  const char* groups = "5:memory:/job\n4:cpu,cpuacct:/job\n";
  EXPECT_EQ(cgroup_processors(groups, folder.path()), 3);
  EXPECT_EQ(cgroup_processors("5:cpuset:/job\n", folder.path()), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
