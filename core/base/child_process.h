// Runs another program and waits for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace attnscope {

struct ProgramResult {
  int status = 0;           // exit status, or 128 + the number of the signal that ended it
  std::string last_output;  // last line of the program's standard output
  std::string last_error;   // last line of the program's standard error
};

// Runs program arguments[0] without input in a new process group. Calls `while_running` about ten
// times per second. If it throws or this thread's work is cancelled (stop.h), ends the process
// group with SIGTERM, waits for the program and rethrows. Throws WorkError if the program cannot be
// started.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::function<void()>& while_running);

}  // namespace attnscope
