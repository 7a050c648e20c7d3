// Cancellation of a running computation from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>

#include "core/base/error.h"

namespace attnscope {

// Handle to a shared flag. Copies share the flag; a default-constructed Stop has its own. Long work
// calls check() at least every few milliseconds, except in a parallel_for body: there it polls
// requested(), or relies on the loop, and calls check() afterwards.
class Stop {
 public:
  Stop() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void request() const { flag_->store(true, std::memory_order_relaxed); }
  bool requested() const { return flag_->load(std::memory_order_relaxed); }
  void check() const {
    if (requested()) throw Stopped();
  }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace attnscope
