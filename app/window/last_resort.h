// A window that was closed is gone within two seconds, whatever its threads are at.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace attnscope::window {

// What runs is asked to stop when the window closes, and mostly does within milliseconds. A few
// things cannot be broken off: a library that reads a large file, a driver that compiles a shader.
// Where they take longer than this after begin(), the process ends without them: what is to be kept
// was written before.
inline constexpr double kMostEndSeconds = 1.5;

class LastResort {
 public:
  LastResort() = default;
  ~LastResort();  // all has ended in time
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  void begin();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace attnscope::window
