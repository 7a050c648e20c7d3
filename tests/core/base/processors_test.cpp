#include "core/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Processors, FollowTheAffinity) {
  EXPECT_GE(usable_processors(), 1);
  int seen = 0;
  std::thread([&seen] {  // the affinity of a thread is its own
    cpu_set_t all, one;
    ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
    int first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    seen = usable_processors();
  })
      .join();
  EXPECT_EQ(seen, 1);
}

TEST(Processors, ReadAGroupsLimit) {
  EXPECT_EQ(processors_in_cpu_max("150000 100000\n"), 1.5);
  EXPECT_EQ(processors_in_cpu_max("max 100000\n"), 0);
  for (const char* broken : {"", "100000", "-1 100000", "5 0", "x y", "1e999 1"}) {
    EXPECT_EQ(processors_in_cpu_max(broken), 0) << broken;
  }
}

TEST(Processors, TakeTheLeastAlongTheGroupsPath) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "a" / "b");
  write_file(folder.path() / "a" / "cpu.max", "200000 100000\n");
  write_file(folder.path() / "a" / "b" / "cpu.max", "max 100000\n");
  EXPECT_EQ(processors_of_group("0::/a/b\n", folder.path()), 2);
  EXPECT_EQ(processors_of_group("0::/a\n", folder.path()), 2);
  EXPECT_EQ(processors_of_group("0::/\n", folder.path()), 0);
  EXPECT_EQ(processors_of_group("0::/gone\n", folder.path()), 0);
  EXPECT_EQ(processors_of_group("nonsense", folder.path()), 0);
  write_file(folder.path() / "cpu.max",
             "50000 100000\n");  // a container sees its group as the root
  EXPECT_EQ(processors_of_group("0::/a/b\n", folder.path()), 0.5);
}

TEST(Processors, ReadTheFirstVersionsFiles) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "cpu" / "job");
  write_file(folder.path() / "cpu" / "job" / "cpu.cfs_quota_us", "300000\n");
  write_file(folder.path() / "cpu" / "job" / "cpu.cfs_period_us", "100000\n");
  write_file(folder.path() / "cpu" / "cpu.cfs_quota_us", "-1\n");
  write_file(folder.path() / "cpu" / "cpu.cfs_period_us", "100000\n");
  const char* groups = "5:memory:/job\n4:cpu,cpuacct:/job\n";
  EXPECT_EQ(processors_of_group(groups, folder.path()), 3);
  EXPECT_EQ(processors_of_group("5:cpuset:/job\n", folder.path()), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
