// The program: a window without arguments, a subcommand with them.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "app/command/address_space.h"
#include "app/command/commands.h"
#include "app/command/options.h"
#include "app/command/output.h"
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

// Writing beyond a limit of size, or to a pipe that nobody reads, then fails like any other, with a
// message and without leaving anything behind.
void write_without_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  write_without_signals();
  try {
    attnscope::command::fit_into_address_space();
    attnscope::command::CommandLine line(
        "attnscope", "attnscope: a laboratory for transformer attention",
        "Exit status: 0 ok, 1 the work failed, 2 wrong use or input, 130 stopped by Ctrl-C.");
    attnscope::command::add_commands(line.program());
    line.run(argc, argv);
    attnscope::command::flush_output();
    return 0;
  } catch (const attnscope::InputError& e) {
    return fail(kWrongUse, e.what());
  } catch (const attnscope::command::NobodyReads&) {
    return kFailed;
  } catch (const attnscope::Stopped&) {
    return kStopped;
  } catch (const std::bad_alloc&) {
    return fail(kFailed, "not enough memory");
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(kWrongUse, e.path1().string() + ": " + e.code().message());
  } catch (const std::system_error& e) {
    return fail(kFailed, "the system refuses: " + e.code().message());
  } catch (const std::exception& e) {
    return fail(kFailed, e.what());
  }
}
