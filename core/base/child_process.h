// Running another program and waiting for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attnscope {

struct ProgramResult {
  int status = 0;           // exit status; 128 + the signal's number if a signal ended it
  std::string last_output;  // last line on its standard output
  std::string last_error;   // last line on its standard error
};

// Runs arguments[0] without input, in its own process group, and calls `while_running` about ten
// times per second. If that throws, or this thread's work is cancelled (stop.h), ends the group
// with SIGTERM, waits for it and rethrows. WorkError if the program cannot be started.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::function<void()>& while_running);

}  // namespace attnscope
