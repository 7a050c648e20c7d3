// Ends the process within two seconds after its window was closed.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace attnscope::window {

// On closing, running work is asked to stop, usually within milliseconds. Some calls cannot be
// interrupted: a library reading a large file, a driver compiling a shader. If they take longer
// than this after begin(), the process exits without them; results are already saved, and
// incomplete files are removed. Seconds.
inline constexpr double kMaxShutdownSeconds = 1.5;

class ShutdownWatchdog {
 public:
  ShutdownWatchdog() = default;
  ~ShutdownWatchdog();  // everything ended in time
  ShutdownWatchdog(const ShutdownWatchdog&) = delete;
  ShutdownWatchdog& operator=(const ShutdownWatchdog&) = delete;

  // `unwritten`: a requested file that is not yet complete; empty: none. If it has to be abandoned,
  // the process reports it on stderr and exits with status 1 instead of 0.
  void begin(std::string unfinished_file = "");

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace attnscope::window
