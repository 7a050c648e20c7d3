// Runs programs and captures their output.
#pragma once

#include <string>
#include <vector>

namespace attnscope::testing {

struct ProcessResult {
  int status = -1;  // exit status; 128 + signal number if a signal ended the process
  std::string out, err;
  long peak_kilobytes = 0;  // peak of resident memory
};

// Runs `program` with `arguments`, without a shell, and waits for it.
ProcessResult run_process(const std::string& program, const std::vector<std::string>& arguments);

// Expects exit status 2, nothing on stdout, and one line on stderr that contains `message_part`.
void expect_refusal(const ProcessResult& result, const std::string& message_part);

}  // namespace attnscope::testing
