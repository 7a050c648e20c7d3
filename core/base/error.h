// The two ways in which work ends early. Messages are one line, name what is wrong, what was
// expected and what was found, and are shown to people as they are.
#pragma once

#include <stdexcept>
#include <string>

namespace attnscope {

// What a person gave (a file, an option, a combination) cannot be used. Exit status 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The input was fine but the work failed (disk full, lost context, diverged). Exit status 1.
struct WorkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Somebody asked to stop, see stop.h. Neither success nor an error.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("stopped") {}
};

}  // namespace attnscope
