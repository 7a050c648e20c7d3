#include "core/base/child_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

ProgramResult run_shell(const std::string& script) {
  return run_program({"sh", "-c", script}, [] {});
}

TEST(ChildProcess, ReturnsStatusAndLastLines) {
  const ProgramResult result =
      run_shell("echo first; echo last; echo warning >&2; printf error >&2; exit 3");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.last_output, "last");
  EXPECT_EQ(result.last_error, "error");
  EXPECT_EQ(run_shell("kill -9 $$").status, 128 + 9);
}

TEST(ChildProcess, ReadsUnlimitedOutput) {
  EXPECT_EQ(run_shell("yes | head -c 3000000; echo; echo end").last_output, "end");
}

TEST(ChildProcess, ReportsMissingProgram) {
  EXPECT_THROW(run_program({"/no/such/program"}, [] {}), WorkError);
}

// Cancellation ends the program and the processes that it has started. The program's trap for TERM
// still runs.
TEST(ChildProcess, CancellationEndsWholeGroup) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path mark = folder.path() / "cleaned";
  const Stop stop;
  const StopScope scope(stop);
  const auto start = std::chrono::steady_clock::now();
  const std::string script =
      "trap 'touch " + mark.string() + "; exit 143' TERM; echo started; sleep 60 & wait";
  EXPECT_THROW(run_program({"sh", "-c", script},
                           [&] {
                             const auto elapsed = std::chrono::steady_clock::now() - start;
                             if (elapsed > std::chrono::milliseconds(300)) stop.request();
                           }),
               Stopped);
  EXPECT_TRUE(std::filesystem::exists(mark));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
