// A window that was closed is gone within two seconds, whatever its threads are at.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace attnscope::window {

// What runs is asked to stop when the window closes, and mostly does within milliseconds. A few
// things cannot be broken off: a library that reads a large file, a driver that compiles a shader.
// Where they take longer than this after begin(), the process ends without them: what is to be kept
// was written before, and what was half written is removed.
inline constexpr double kMostEndSeconds = 1.5;

class LastResort {
 public:
  LastResort() = default;
  ~LastResort();  // all has ended in time
  LastResort(const LastResort&) = delete;
  LastResort& operator=(const LastResort&) = delete;

  // unwritten: a file that a person asked for and that is not written yet; empty: none. Where it
  // has to go without, that is said on stderr, and the status is 1 instead of 0.
  void begin(std::string unwritten = "");

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace attnscope::window
