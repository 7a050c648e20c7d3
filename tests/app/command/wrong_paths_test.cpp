// Every path argument of the command line with every kind of invalid path: status 1 or 2, one line,
// no library messages.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/file.h"
#include "tests/app/command/foreign_words.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::run_process;

const std::string kPlaceholder = "@";  // placeholder of the path in commands

using CommandLine = std::vector<std::string>;

// Commands that accept any file content as text.
const std::vector<CommandLine> kTextCommands = {
    {"run", "--text-file", kPlaceholder, "-o", "/dev/null"},
    {"render", "--text-file", kPlaceholder, "-o", "/dev/null/x.png"},
    {"pairs", "--text-file", kPlaceholder},
    {"statistics", kPlaceholder},
    {"evaluate", kPlaceholder},
    {"calibrate", "--model", "exits-calm", kPlaceholder},
    {"datastore", "--text", kPlaceholder, "-o", "/dev/null"},
    {"train", "--preset", "shakespeare-char", "--text", kPlaceholder, "-o", "/dev/null/x"},
};

const std::vector<CommandLine> kReadingCommands = {
    {"run", kPlaceholder, "-o", "/dev/null"},
    {"run", "--session", kPlaceholder, "-o", "/dev/null"},
    {"run", "-t", "a", "--model", kPlaceholder, "-o", "/dev/null"},
    {"run", "--input", kPlaceholder, "--model", "digits", "-o", "/dev/null"},
    {"run", "-t", "a", "--variant", "custom", "--mask", kPlaceholder, "-o", "/dev/null"},
    {"run", "-t", "a", "--variant", "graph", "--edges", kPlaceholder, "-o", "/dev/null"},
    {"run", "-t", "a", "--retrieval", "knn,k=2,store=@", "-o", "/dev/null"},
    {"render", kPlaceholder, "-o", "/dev/null/x.png"},
    {"attend", kPlaceholder, "-o", "/dev/null"},
    {"generate", "-t", "a", "--tokens", "1", "--model", kPlaceholder},
    {"train", "--plan", kPlaceholder, "-o", "/dev/null/x"},
    {"lesson", kPlaceholder},
};

const std::vector<CommandLine> kWritingCommands = {
    {"run", "-t", "a", "-o", kPlaceholder},
    {"render", "-t", "a", "-o", kPlaceholder},
    {"gallery", kPlaceholder},
    {"manual", "-o", kPlaceholder},
    {"completion", "bash", "-o", kPlaceholder},
    {"lesson", "heads", "-o", kPlaceholder},
    {"cost", "--variant", "full", "--lengths", "32", "-o", kPlaceholder},
};

class WrongPaths : public ::testing::Test {
 protected:
  void expect_one_line(CommandLine line, const std::string& path) {
    std::string command_line;
    for (std::string& word : line) {
      const std::size_t position = word.find(kPlaceholder);
      if (position != std::string::npos) word.replace(position, kPlaceholder.size(), path);
      command_line += word.substr(0, 60) + " ";
    }
    SCOPED_TRACE(command_line);
    const ProcessResult result = run_process(testing::program_path(), line);
    EXPECT_TRUE(result.status == 1 || result.status == 2) << result.status << result.err;
    EXPECT_TRUE(result.err.starts_with("attnscope: ")) << result.err;
    EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;
    EXPECT_EQ(testing::leaked_library_message(result.err), "");
  }

  testing::TemporaryFolder folder_;
  const std::string root_ = folder_.path().string();
};

TEST_F(WrongPaths, UnreadableInputIsOneLineError) {
  write_file(folder_.path() / "file", "{\"a\": [1, }");
  const std::vector<std::string> paths = {"",
                                          std::string(5000, 'n'),
                                          root_ + "/" + std::string(300, 'n'),
                                          root_,
                                          root_ + "/file",
                                          root_ + "/none",
                                          root_ + "/file/below",
                                          root_ + "/\xff\xfe",
                                          "/proc/self/mem"};
  for (const std::string& path : paths) {
    for (const CommandLine& line : kReadingCommands) expect_one_line(line, path);
    if (path == root_ + "/file") continue;
    for (const CommandLine& line : kTextCommands) expect_one_line(line, path);
  }
}

TEST_F(WrongPaths, UnwritableOutputIsOneLineError) {
  write_file(folder_.path() / "file", "old");
  const std::vector<std::string> paths = {"",
                                          std::string(5000, 'n') + ".png",
                                          root_ + "/" + std::string(300, 'n') + ".png",
                                          root_ + "/file/below.png",
                                          "/proc/none/x.png",
                                          "/dev/full/x.png"};
  for (const CommandLine& line : kWritingCommands) {
    for (const std::string& path : paths) expect_one_line(line, path);
  }
  EXPECT_EQ(read_file(folder_.path() / "file"), "old");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
