// Standard output of the commands.
#pragma once

#include "core/base/error.h"

namespace attnscope::command {

// Whoever read has stopped, as head does: seen enough, and in need of no message. Exit status 1.
struct NobodyReads : WorkError {
  NobodyReads() : WorkError("standard output: nobody reads it") {}
};

// What was printed has arrived; else WorkError (a full disk) or NobodyReads. To be called before
// anything is said on standard error of what was printed: a failure is one line.
void flush_output();

}  // namespace attnscope::command
