#include "core/base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stop.h"

extern char** environ;  // NOLINT: POSIX

namespace attnscope {
namespace {

constexpr int kPollMilliseconds = 100;
constexpr std::size_t kMaxLine = 4096;  // maximum number of bytes stored per line

// Reading end of a pipe that the program writes to, and the last line read from the pipe.
class OutputPipe {
 public:
  OutputPipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw WorkError(std::string("pipe: ") + std::strerror(errno));
    }
  }
  ~OutputPipe() {
    close_end(0);
    close_end(1);
  }
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end() { close_end(1); }
  const std::string& last_line() const { return line_.empty() ? complete_ : line_; }

  // Reads available bytes. Closes the pipe at end of file.
  void read_available() {
    std::array<char, 4096> bytes;
    const ssize_t count = ::read(ends_[0], bytes.data(), bytes.size());
    if (count <= 0) return close_end(0);
    for (ssize_t n = 0; n < count; ++n) {
      const char c = bytes[static_cast<std::size_t>(n)];
      if (c != '\n' && c != '\r') {
        if (line_.size() < kMaxLine) line_ += c;
      } else if (!line_.empty()) {
        complete_ = std::move(line_);
        line_.clear();
      }
    }
  }

 private:
  void close_end(std::size_t n) {
    if (ends_[n] >= 0) ::close(ends_[n]);
    ends_[n] = -1;
  }

  std::array<int, 2> ends_{-1, -1};
  std::string line_, complete_;
};

pid_t start(const std::vector<std::string>& arguments, const OutputPipe& out,
            const OutputPipe& err) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));  // NOLINT: never written
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.writing_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, err.writing_end(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, argv[0], &files, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) throw WorkError(arguments[0] + ": cannot be started: " + std::strerror(error));
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::function<void()>& while_running) {
  OutputPipe out, err;
  const pid_t child = start(arguments, out, err);
  out.close_writing_end();
  err.close_writing_end();
  try {
    while (out.reading_end() >= 0 || err.reading_end() >= 0) {
      std::array<pollfd, 2> ends{pollfd{out.reading_end(), POLLIN, 0},
                                 pollfd{err.reading_end(), POLLIN, 0}};
      ::poll(ends.data(), ends.size(), kPollMilliseconds);
      if (ends[0].revents != 0) out.read_available();
      if (ends[1].revents != 0) err.read_available();
      check_stop();
      while_running();
    }
  } catch (...) {
    ::kill(-child, SIGTERM);
    wait_for(child);
    throw;
  }
  return {wait_for(child), out.last_line(), err.last_line()};
}

}  // namespace attnscope
