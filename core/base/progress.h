// Progress of long work, reported by worker threads and read by the thread that waits for them.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>

namespace attnscope {

class Progress {
 public:
  // Begins a stage, "layer 3 of 4", that covers the fractions [from, to] of the work. `from` and
  // `to` are 0 while the size of the work is unknown.
  void begin_stage(std::string name, double from, double to);
  // Sets the completed fraction of the stage, in [0, 1]. Cheap enough for kernel threads.
  void set_stage_fraction(double fraction) { fraction_.store(fraction, std::memory_order_relaxed); }
  // Number of tokens of the run's text.
  void set_tokens(long long count) { tokens_ = count; }
  long long tokens() const { return tokens_; }  // 0: unknown

  struct Snapshot {
    std::string stage{};
    double share = 0;          // completed fraction of the whole work, in [0, 1]
    double seconds_left = -1;  // extrapolated; negative: unknown
  };
  Snapshot snapshot() const;

 private:
  using Clock = std::chrono::steady_clock;

  mutable std::mutex mutex_;  // guards the next four members
  std::string stage_;
  double from_ = 0, to_ = 0;
  Clock::time_point start_{};  // start of the first stage with a known range

  std::atomic<double> fraction_{0};
  std::atomic<long long> tokens_{0};
};

// "about 12 s left", "about 3 min left"; empty if unknown.
std::string time_left_text(double seconds);

}  // namespace attnscope
