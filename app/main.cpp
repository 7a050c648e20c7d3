// The program: a window without arguments, a subcommand with them.
#include <sys/resource.h>

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

// What was printed has arrived: a full disk and a reader that went away are failures, too.
void finish_output() {
  std::cout.flush();
  const int failed = std::fflush(stdout);
  if (failed == 0 && std::ferror(stdout) == 0 && std::cout.good()) return;
  const std::string reason = failed != 0 ? std::string(": ") + std::strerror(errno) : "";
  throw attnscope::WorkError("standard output cannot be written" + reason);
}

// Writing beyond a limit of size, or to a pipe that nobody reads, then fails like any other, with a
// message and without leaving anything behind.
void write_without_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

// Libraries that cannot get the little that they need end the program without a word.
void check_address_space() {
  constexpr rlim_t kLeast = rlim_t{512} << 20;
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
    finish_output();
    return 0;
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
