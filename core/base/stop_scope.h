// Thread-local cancellation.
#pragma once

#include "core/base/stop.h"

namespace attnscope {

// While a StopScope is alive, check_stop() and parallel loops (parallel.h) on this thread throw
// Stopped once `stop` is requested. Scopes nest; the innermost wins. Never open one around saving:
// an interrupted write would be lost.
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

// Throws Stopped if this thread's work is cancelled. Does nothing outside a scope and in
// parallel_for bodies, which end with their loop. Costs a few nanoseconds.
void check_stop();

// True if this thread's work is cancelled. For parallel_for bodies, on any of the loop's threads;
// the loop then throws Stopped.
bool is_stopping();

// The innermost scope's Stop, or null.
const Stop* current_stop();

// True on a thread inside a parallel_for body. Once the caller's scope is cancelled, such a loop
// skips the ranges that have not started and throws Stopped.
bool in_parallel_for();

}  // namespace attnscope
