// How far long work has come: told by who does it, from any thread, and read by who waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace attnscope {

class Progress {
 public:
  // What is done from now on, "layer 3 of 4", and which part of the whole it is, from 0 to 1. Where
  // that is not known yet, as of a file that is read, both are 0.
  void enter(std::string what, double from, double to);
  // So much of it is done, from 0 to 1. Cheap enough for the threads of a kernel.
  void reach(double share) { within_.store(share, std::memory_order_relaxed); }
  // How many tokens are read.
  void set_tokens(long long count) { tokens_ = count; }
  long long tokens() const { return tokens_; }  // 0: not known yet

  struct Now {
    std::string what{};
    double share = 0;          // of the whole
    double seconds_left = -1;  // as the work has gone so far; negative: too little of it is done
  };
  Now now() const;

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;  // guards what follows
  std::string what_;
  double from_ = 0, to_ = 0;
  Clock::time_point began_{};  // that of which shares are known

  std::atomic<double> within_{0};
  std::atomic<long long> tokens_{0};
};

// "about 12 s left", "about 3 min left"; empty where that is not known.
std::string time_left_words(double seconds);

}  // namespace attnscope
