// The program: a window without arguments, a subcommand with them.
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>

#include "app/command/commands.h"
#include "app/command/options.h"
#include "core/base/error.h"

namespace {

constexpr int kFailed = 1;     // the work failed
constexpr int kWrongUse = 2;   // wrong use or input
constexpr int kStopped = 130;  // as shells report Ctrl-C

// Messages are one line, whatever a library put into them.
int fail(int status, std::string message) {
  for (char& c : message) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fprintf(stderr, "attnscope: %s\n", message.c_str());
  return status;
}

// Of a pipe: nobody reads it any more.
bool has_no_reader(int descriptor) {
  pollfd pipe{descriptor, POLLOUT, 0};
  return ::poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0;
}

// Whether what was printed has arrived: a full disk is a failure. Whoever has stopped reading, as
// head does, has seen enough and needs no message.
int finish_output() {
  std::cout.flush();
  const int failed = std::fflush(stdout);
  const std::string reason = failed != 0 ? std::string(": ") + std::strerror(errno) : "";
  if (failed == 0 && std::ferror(stdout) == 0 && std::cout.good()) return 0;
  if (has_no_reader(STDOUT_FILENO)) return kFailed;
  return fail(kFailed, "standard output cannot be written" + reason);
}

// Writing beyond a limit of size, or to a pipe that nobody reads, then fails like any other, with a
// message and without leaving anything behind.
void write_without_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// Libraries that cannot get the little that they need end the program without a word.
void check_address_space() {
  constexpr rlim_t kLeast = rlim_t{1024} << 20;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kLeast) return;
  throw attnscope::WorkError("memory: expected at least " + std::to_string(kLeast >> 20) +
                             " MB of addresses, found a limit of " +
                             std::to_string(limit.rlim_cur >> 20) + " MB (ulimit -v)");
}

}  // namespace

int main(int argc, char** argv) {
  write_without_signals();
  attnscope::command::CommandLine line(
      "attnscope", "attnscope: a laboratory for transformer attention",
      "Exit status: 0 ok, 1 the work failed, 2 wrong use or input, 130 stopped by Ctrl-C.");
  attnscope::command::add_commands(line.program());
  try {
    check_address_space();
    line.run(argc, argv);
    return finish_output();
  } catch (const attnscope::InputError& e) {
    return fail(kWrongUse, e.what());
  } catch (const attnscope::Stopped&) {
    return kStopped;
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "not enough memory");
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(kWrongUse, e.path1().string() + ": " + e.code().message());
  } catch (const std::exception& e) {
    return fail(kFailed, e.what());
  }
}
