// Ends the process within two seconds after its window was closed.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace attnscope::window {

// Seconds after begin() until the process exits without waiting for running work. Work usually
// stops within milliseconds, but some calls cannot be interrupted: a library reading a large file,
// a driver compiling a shader. Results are already saved; incomplete files are removed.
inline constexpr double kMaxShutdownSeconds = 1.5;

class ShutdownWatchdog {
 public:
  ShutdownWatchdog() = default;
  ~ShutdownWatchdog();  // ends the countdown
  ShutdownWatchdog(const ShutdownWatchdog&) = delete;
  ShutdownWatchdog& operator=(const ShutdownWatchdog&) = delete;

  // unfinished_file: a requested file that is not complete; empty: none. If the process exits
  // before the file is complete, the watchdog names it on stderr, and the exit status is 1, not 0.
  void begin(std::string unfinished_file = "");

 private:
  std::mutex mutex_;
  std::condition_variable finish_condition_;
  bool is_finished_ = false;
  std::thread thread_;
};

}  // namespace attnscope::window
