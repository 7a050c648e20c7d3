// Ctrl-C while a command waits for a pipe, and text from files on a terminal.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::run_process;

using Words = std::vector<std::string>;

[[noreturn]] void execute(const Words& words) {
  Words command = words;
  command.insert(command.begin(), testing::program_path());
  std::vector<char*> pointers;
  for (std::string& word : command) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execv(pointers[0], pointers.data());
  ::_exit(127);
}

// Exit status of a command that SIGINT interrupts after a moment; 128 + signal if one ended it.
int interrupted_status(const Words& words) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_RDWR);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(null, stream);
    execute(words);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGINT);
  for (int n = 0; n < 300; ++n) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  return -1;
}

// Output of a command on a terminal.
std::string output_on_terminal(const Words& words) {
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) execute(words);
  std::string output;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    output.append(buffer, static_cast<std::size_t>(n));
  }
  ::close(terminal);
  ::waitpid(child, nullptr, 0);
  return output;
}

TEST(Interrupt, EndsWaitingForPipes) {
  const testing::TemporaryFolder folder;
  const std::string pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const Words& words :
       {Words{"pairs", "--model", "brackets", "--text-file", pipe},
        Words{"train", "--preset", "shakespeare-char", "--text", pipe, "-o", folder.path() / "t"},
        Words{"completion", "bash", "-o", pipe}}) {
    EXPECT_EQ(interrupted_status(words), 130) << words[0];
  }
}

TEST(Interrupt, DevicesAreRefused) {
  testing::expect_refusal(run_process(testing::program_path(), {"statistics", "/dev/zero"}),
                          "/dev/zero: is a device");
}

TEST(TerminalOutput, ContainsNoControlSequences) {
  const testing::TemporaryFolder folder;
  const std::string name = folder.path() / "\x1b[31mred";
  for (const Words& words :
       {Words{"lesson", name}, Words{"run", "-t", "a", "--model", name, "-o", "/dev/null"}}) {
    const std::string output = output_on_terminal(words);
    EXPECT_EQ(output.find('\x1b'), std::string::npos) << words[0];
    EXPECT_NE(output.find("\\x1b"), std::string::npos) << output;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
