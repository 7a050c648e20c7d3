#include "core/base/stop_scope.h"

#include <utility>

namespace attnscope {

namespace {

thread_local const Stop* innermost = nullptr;

}  // namespace

StopScope::StopScope(Stop stop) : stop_(std::move(stop)), outer_(innermost) {
  innermost = &stop_;
}

StopScope::~StopScope() {
  innermost = outer_;
}

const Stop* current_stop() {
  return innermost;
}

bool is_stopping() {
  return innermost != nullptr && innermost->requested();
}

void check_stop() {
  if (is_stopping() && !in_parallel_for()) throw Stopped();
}

}  // namespace attnscope
