// For whom a thread works: what loops look at that are called without a Stop.
#pragma once

#include "core/base/stop.h"

namespace attnscope {

// While it lives, this thread works for `stop`: check_stop() and loops over all cores
// (parallel.h) throw Stopped when it is requested. Scopes within scopes: the innermost counts.
// Only around work whose results are of no use once it is stopped, never around saving.
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

// Throws Stopped where this thread's work is to end. Does nothing without a scope, and in bodies of
// parallel_for, which end with their loop. A few nanoseconds.
void check_stop();

// Null: none.
const Stop* stop_of_thread();

// Whether the calling thread is in a body of parallel_for, whose loops leave out ranges that have
// not begun when the caller's scope is to stop, and then throw Stopped.
bool in_parallel_for();

}  // namespace attnscope
