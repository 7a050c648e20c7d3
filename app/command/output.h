// Standard output of the commands.
#pragma once

#include "core/base/error.h"

namespace attnscope::command {

// Thrown if the reader of stdout closed the pipe, as `head` does. Exit status 1, no message.
struct OutputClosed : WorkError {
  OutputClosed() : WorkError("standard output: closed by its reader") {}
};

// Flushes stdout. Throws OutputClosed after the reader has closed it, and WorkError on other
// errors. Call before printing to stderr, so that a failure is reported in one line.
void flush_output();

}  // namespace attnscope::command
