// Entry point: opens the window without arguments, else runs a subcommand.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>

#include "app/command/address_space.h"
#include "app/command/commands.h"
#include "app/command/error_text.h"
#include "app/command/options.h"
#include "app/command/output.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/text/terminal_text.h"

namespace {

constexpr int kFailure = 1;
constexpr int kUsageError = 2;  // invalid options or input
constexpr int kStopped = 130;   // as shells report Ctrl-C

int report(int status, const std::string& message) {
  std::fprintf(stderr, "attnscope: %s\n", attnscope::terminal_line(message).c_str());
  return status;
}

// Turns SIGPIPE and SIGXFSZ into write errors, which are reported and leave no partial files.
void write_without_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  write_without_signals();
  try {
    attnscope::thread_count();  // rejects an invalid ATTNSCOPE_THREADS
    attnscope::command::fit_into_address_space();
    attnscope::command::CommandLine command_line(
        "attnscope", "attnscope: a laboratory for transformer attention",
        "Exit status: 0 success, 1 failure, 2 invalid options or input, 130 stopped by Ctrl-C.");
    attnscope::command::add_commands(command_line.program());
    command_line.run(argc, argv);
    attnscope::command::flush_output();
    return 0;
  } catch (const attnscope::InputError& e) {
    return report(kUsageError, e.what());
  } catch (const attnscope::command::OutputClosed&) {
    return kFailure;
  } catch (const attnscope::Stopped&) {
    return kStopped;
  } catch (const std::bad_alloc&) {
    return report(kFailure, "not enough memory");
  } catch (const std::filesystem::filesystem_error& e) {
    return report(kUsageError, e.path1().string() + ": " + e.code().message());
  } catch (const std::system_error& e) {
    return report(kFailure, "system error: " + e.code().message());
  } catch (const std::exception& e) {
    return report(kFailure, attnscope::command::error_text(e));
  }
}
