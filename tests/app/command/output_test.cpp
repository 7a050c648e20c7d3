// Closed pipes and file size limits. See also scarcity_test.cpp.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::run_process;
using testing::TemporaryFolder;

// "$0" in a shell line is the program.
ProcessResult run_shell(const std::string& line) {
  return run_process("/bin/sh", {"-c", line, testing::program_path()});
}

void expect_failure(const ProcessResult& result, const std::string& message) {
  EXPECT_EQ(result.status, 1) << result.err;
  EXPECT_NE(result.err.find(message), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
}

// A reader such as `head` closes the pipe: status 1, no message.
TEST(Output, ClosedPipeIsFailureNotSignal) {
  const ProcessResult result = run_shell("(sleep 0.2; \"$0\" list --json; echo $? >&2) | true");
  EXPECT_EQ(result.err, "1\n");
}

TEST(Output, FileSizeLimitLeavesNoFile) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "run.npz").string();
  const ProcessResult result =
      run_shell("ulimit -f 8; exec \"$0\" run --text 'the old house' -o '" + file + "'");
  expect_failure(result, file + ": cannot be written: File too large");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
