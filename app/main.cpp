// The program: a window without arguments, a subcommand with them.
#include <cstdio>
#include <exception>
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

}  // namespace

int main(int argc, char** argv) {
  attnscope::command::CommandLine line(
      "attnscope", "attnscope: a laboratory for transformer attention",
      "Exit status: 0 ok, 1 the work failed, 2 wrong use or input, 130 stopped by Ctrl-C.");
  attnscope::command::add_commands(line.program());
  try {
    line.run(argc, argv);
    return 0;
  } catch (const attnscope::InputError& e) {
    return fail(kWrongUse, e.what());
  } catch (const attnscope::Stopped&) {
    return kStopped;
  } catch (const std::exception& e) {
    return fail(kFailed, e.what());
  }
}
