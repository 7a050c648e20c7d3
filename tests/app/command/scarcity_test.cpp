// Every command with too little address space or disk space. Expected: status 1 (2 for invalid
// usage), one line on stderr, no signal, no remaining files.
//   ATTNSCOPE_SCARCITY  if set, tests slow commands and more limits, too; costs minutes
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>

#include "core/base/file.h"
#include "tests/app/command/foreign_words.h"
#include "tests/support/compare.h"
#include "tests/support/pattern_match.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;
using testing::ProcessResult;
using testing::run_process;

// Example of a command, with placeholders. TEXT: a text file; OUT: an existing folder; TESTS: the
// folder of the project's tests.
struct Line {
  std::string command;
  bool prints_output = false;  // prints on standard output
};

// One fast example of each command that needs no display.
const std::vector<Line> kQuickCommands = {
    {"--help", true},
    {"--version", true},
    {"list", true},
    {"list --json", true},
    {"attend TESTS/conformance/full-causal.safetensors -o OUT/x.safetensors"},
    {"run --model brackets -t '(())()' -o OUT/x.npz"},
    {"datastore --text TEXT -o OUT/x.safetensors"},
    {"generate --model induction -t 'the' --tokens 2", true},
    {"render --model brackets -t '(())()' -o OUT/x.png"},
    {"gallery OUT/none/none --model none"},
    {"lesson self-attention", true},
    {"train --preset shakespeare-char --text TEXT --width 16 --heads 2 --head-size 8 --hidden 16"
     " --layers 1 --context 16 --batch 1 --steps 1 -q -o OUT/trained",
     true},
    {"evaluate TEXT --model brackets", true},
    {"calibrate TEXT --model exits-calm --length 16", true},
    {"statistics TEXT --model brackets", true},
    {"pairs --model brackets -t '(())()'", true},
    {"cost --variant full --lengths 32", true},
    {"experiment returns --quick -o OUT/returns", true},
    {"open OUT/none.npy"},
    {"window --session OUT/none.json"},
    {"manual", true},
    {"completion bash", true},
};

// Slow commands, and further examples of the commands above.
const std::vector<Line> kLongCommands = {
    {"gallery OUT/gallery --scale 1"},
    {"lesson heads -o OUT/lesson"},
    {"render -t 'the old house' --animate head=0:3 -o OUT/x.gif"},
    {"render -t 'the old house' --scale 4 --width 4000 --height 3000 -o OUT/x.png"},
    {"render -t 'the old house' --backend gpu -o OUT/x.png"},
    {"render --text-file TEXT --view grid -o OUT/x.pdf"},
    {"run --text-file TEXT -o OUT/x.npz"},
    {"train --preset recall --steps 2 -q -o OUT/t"},
    {"cost --variant full --variant linear --lengths 512..4096 -o OUT/x.png"},
};

void replace_all(std::string& text, const std::string& word, const std::string& replacement) {
  for (std::size_t position = text.find(word); position != std::string::npos;
       position = text.find(word, position + replacement.size())) {
    text.replace(position, word.size(), replacement);
  }
}

class Scarcity : public ::testing::Test {
 protected:
  Scarcity() {
    std::string text;
    for (int i = 0; i < 40; ++i)
      text += "The old house stood by the river, and the cat saw it.\n\n";
    write_file(folder_.path() / "text.txt", text);
    fs::create_directory(out_);
  }

  // Runs a shell with `prefix` before the program and `suffix` after its arguments.
  ProcessResult run(const std::string& prefix, const Line& line, const std::string& suffix) {
    std::string command = line.command;
    replace_all(command, "TESTS", (testing::source_folder() / "tests").string());
    replace_all(command, "TEXT", (folder_.path() / "text.txt").string());
    replace_all(command, "OUT", out_.string());
    return run_process("/bin/sh", {"-c",
                                   "unset DISPLAY WAYLAND_DISPLAY; ulimit -c 0; " + prefix +
                                       " exec \"$0\" " + command + " " + suffix,
                                   testing::program_path()});
  }

  static void expect_one_line(const ProcessResult& result) {
    std::string err = result.err;
    constexpr const char* progress = "^[a-z]+: [0-9]+%\n";  // printed on slow machines
    for (testing::Match line; !(line = testing::find_match(err, progress)).empty();) {
      err.erase(0, line[0].size());
    }
    EXPECT_TRUE(result.status == 1 || result.status == 2) << result.status << " " << err;
    EXPECT_TRUE(err.starts_with("attnscope: ")) << err;
    EXPECT_EQ(err.find('\n'), err.size() - 1) << err;
    EXPECT_EQ(testing::leaked_library_message(err), "");
  }

  void expect_no_temporary_files() {
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      EXPECT_EQ(entry.path().filename().string().find(".attnscope-"), std::string::npos)
          << entry.path();
    }
    fs::remove_all(out_);
    fs::create_directory(out_);
  }

  testing::TemporaryFolder folder_;
  const fs::path out_ = folder_.path() / "out";
};

// Subcommands listed by --help: "  run    Run a model ...".
std::set<std::string> subcommands() {
  const std::string help = run_process(testing::program_path(), {"--help"}).out;
  std::set<std::string> names;
  std::size_t position = help.find("Subcommands:");
  while ((position = help.find("\n  ", position)) != std::string::npos) {
    position += 3;
    if (help[position] != ' ')
      names.insert(help.substr(position, help.find(' ', position) - position));
  }
  return names;
}

TEST_F(Scarcity, CoversEveryCommand) {
  const std::set<std::string> names = subcommands();
  EXPECT_GT(names.size(), 10U);
  for (const std::string& name : names) {
    EXPECT_TRUE(std::ranges::any_of(kQuickCommands, [&](const Line& line) {
      return line.command == name || line.command.starts_with(name + " ");
    })) << name;
  }
}

TEST_F(Scarcity, FullStandardOutputIsFailure) {
  std::vector<Line> lines;
  for (const Line& line : kQuickCommands) {
    if (line.prints_output) lines.push_back(line);
  }
  for (const std::string& name : subcommands()) lines.push_back({name + " --help", true});
  for (const Line& line : lines) {
    SCOPED_TRACE(line.command);
    const ProcessResult result = run("", line, "> /dev/full");
    EXPECT_EQ(result.status, 1);
    expect_one_line(result);
    EXPECT_NE(result.err.find("standard output cannot be written"), std::string::npos)
        << result.err;
    expect_no_temporary_files();
  }
}

// Outputs are links to the full device, with file names that the commands accept.
TEST_F(Scarcity, FullDiskIsFailure) {
  for (const char* command :
       {"attend TESTS/conformance/full-causal.safetensors -o FULL",
        "run --model brackets -t '()' -o FULL", "datastore --text TEXT -o FULL.safetensors",
        "render --model brackets -t '()' -o FULL.png",
        "render --model brackets -t '()' -o FULL.csv",
        "render --model brackets -t '(())' --animate head=0:1 -o FULL.gif",
        "generate --model induction -t 'the' --tokens 2 -o FULL", "gallery FULL --model brackets",
        "lesson self-attention -o FULL", "train --preset brackets -q -o FULL",
        "calibrate TEXT --model exits-calm --length 16 -o FULL.svg",
        "statistics TEXT --model brackets -o FULL", "pairs --model brackets -t '(())' -o FULL",
        "cost --variant full --lengths 32 -o FULL.pdf", "manual -o FULL",
        "completion fish -o FULL"}) {
    SCOPED_TRACE(command);
    for (const char* extension : {"", ".png", ".csv", ".gif", ".svg", ".pdf", ".safetensors"}) {
      fs::create_symlink("/dev/full", out_ / (std::string("full") + extension));
    }
    std::string line = command;
    replace_all(line, "FULL", (out_ / "full").string());
    const ProcessResult result = run("", {line}, "> /dev/null");
    expect_one_line(result);
    EXPECT_NE(result.err.find((out_ / "full").string()), std::string::npos) << result.err;
    expect_no_temporary_files();
  }
}

// An address space in MB, at most 8 above the smallest, that suffices to start the program.
int smallest_address_space(const std::function<ProcessResult(const std::string& prefix)>& run) {
  constexpr int loader_failed = 127;
  int megabytes = 24;
  while (megabytes < 100 &&
         run("ulimit -v " + std::to_string(megabytes * 1024) + ";").status == loader_failed) {
    megabytes += 4;
  }
  return megabytes + 4;
}

TEST_F(Scarcity, AddressSpaceExhaustionIsOneLineError) {
  const int smallest = smallest_address_space(
      [&](const std::string& prefix) { return run(prefix, {"--version"}, ""); });
  ASSERT_LT(smallest, 100);
  for (const int megabytes : {smallest, 500}) {
    for (const Line& line : kQuickCommands) {
      SCOPED_TRACE(std::to_string(megabytes) + " MB: " + line.command);
      const ProcessResult result =
          run("ulimit -v " + std::to_string(megabytes * 1024) + ";", line, "");
      EXPECT_EQ(result.status, 1);
      expect_one_line(result);
      EXPECT_NE(result.err.find("memory"), std::string::npos) << result.err;
      EXPECT_TRUE(fs::is_empty(out_));
    }
  }
}

// With at least 1024 MB, each command succeeds or fails with one line.
TEST_F(Scarcity, SmallAddressSpaceSucceedsOrFailsInOneLine) {
  const bool includes_slow_commands = std::getenv("ATTNSCOPE_SCARCITY") != nullptr;
  std::vector<Line> lines = kQuickCommands;
  if (includes_slow_commands) lines.insert(lines.end(), kLongCommands.begin(), kLongCommands.end());
  std::vector<int> limits = {1024};
  if (includes_slow_commands) {
    for (int megabytes = 1100; megabytes <= 2048; megabytes += 100) limits.push_back(megabytes);
  }
  for (const int megabytes : limits) {
    for (const Line& line : lines) {
      const bool is_slow =
          line.command.starts_with("lesson") || line.command.starts_with("calibrate");
      if (is_slow && !includes_slow_commands) continue;
      SCOPED_TRACE(std::to_string(megabytes) + " MB: " + line.command);
      const ProcessResult result =
          run("ulimit -v " + std::to_string(megabytes * 1024) + ";", line, "");
      if (result.status != 0) expect_one_line(result);
      if (line.prints_output) {
        EXPECT_EQ(result.status, 0) << result.err;
      }
      EXPECT_EQ(testing::leaked_library_message(result.err), "");
      expect_no_temporary_files();
    }
  }
}

// Sends HUP and TERM at several moments.
TEST_F(Scarcity, InterruptLeavesNoTemporaryFile) {
  int delay = 0;
  for (const char* command :
       {"run --model brackets -t '(())()' -o OUT/x.npz",
        "render --model induction -t 'the cat' -o OUT/x.png",
        "render --model brackets -t '(())()' --animate head=0:3 -o OUT/x.gif",
        "lesson self-attention -o OUT/lesson", "statistics TEXT --model induction -o OUT/x.csv",
        "train --preset shakespeare-char --text TEXT --width 16 --heads 2 --head-size 8"
        " --hidden 16 --layers 1 --context 16 --batch 1 --save-every 0.01 -q -o OUT/trained"}) {
    for (const char* signal : {"HUP", "TERM"}) {
      delay = (delay + 70) % 300;
      const std::string line = std::string(command) + " after " + std::to_string(delay) + " ms";
      SCOPED_TRACE(line + " SIG" + signal);
      const ProcessResult result = run("(sleep 0." + std::to_string(1000 + delay).substr(1) +
                                           "; kill -" + signal + " $$) 2>/dev/null & ",
                                       {command}, "");
      const bool has_ended = result.status == 0 || result.status == 130 || result.status > 128;
      EXPECT_TRUE(has_ended) << result.status << " " << result.err;
      EXPECT_EQ(testing::leaked_library_message(result.err), "");
      expect_no_temporary_files();
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
