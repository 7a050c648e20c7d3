// Cancellation of a running computation from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>

#include "core/base/error.h"

namespace attnscope {

// Handle to a shared flag. Copies share the flag; a default-constructed Stop has its own. Whoever
// starts a computation opens a StopScope (stop_scope.h) with it; the computation itself only calls
// check_stop().
class Stop {
 public:
  Stop() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void request() const { flag_->store(true, std::memory_order_relaxed); }
  bool requested() const { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace attnscope
