// Asking a running computation to end, from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>

#include "core/base/error.h"

namespace attnscope {

// A handle to one shared flag. Copies refer to the same flag; a default-made one is never set
// by anybody else. Long work calls check() at least every few milliseconds, not inside a
// parallel_for: there it polls requested(), or leaves that to the loop, and checks after.
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
