// Exceptions that end work early. A message is one line that names the place, the expected value
// and the found value. The user sees the message unchanged.
#pragma once

#include <stdexcept>
#include <string>

namespace attnscope {

// Unusable user input: a file, an option or a combination of settings. Exit status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Failed work on valid input: disk full, lost graphics context, divergence. Exit status 1.
struct WorkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Cancellation on request, see stop.h. Neither success nor an error.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

}  // namespace attnscope
