// Cancellation of a running computation from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>

#include "core/base/error.h"

namespace attnscope {

// Handle to a shared flag. Copies share the flag; the default constructor creates a new one. The
// caller of a computation opens a StopScope; the computation only calls check_stop().
class Stop {
 public:
  Stop() : flag_(std::make_shared<std::atomic<bool>>(false)) {}

  void request() const { flag_->store(true, std::memory_order_relaxed); }
  bool requested() const { return flag_->load(std::memory_order_relaxed); }

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

// While a StopScope is alive, check_stop() and parallel loops (parallel.h) on this thread throw
// Stopped once `stop` is requested. Scopes nest; the innermost wins. Work on another thread opens a
// scope on that thread, with current_stop() of the waiting thread.
class StopScope {
 public:
  explicit StopScope(Stop stop);
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const Stop stop_;
  const Stop* const outer_;
};

// Protects work that must not be interrupted, such as saving, from cancellation by outer scopes.
class UninterruptedScope {
 private:
  const StopScope scope_{Stop()};
};

// Throws Stopped if this thread's work is cancelled. Does nothing outside a scope. Costs a few
// nanoseconds; in long work, call it at least every few milliseconds.
void check_stop();

// True if this thread's work is cancelled. parallel_for bodies with slow items poll it and return
// early, on any of the loop's threads; the loop then throws Stopped.
bool is_stopping();

// The innermost scope's Stop; outside any scope, a Stop that is never requested.
const Stop& current_stop();

// True on a thread inside a parallel_for body. Once the scope of parallel_for's caller is
// cancelled, the loop skips the ranges that have not started and throws Stopped.
bool in_parallel_for();

}  // namespace attnscope
