#include "core/base/stop.h"

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

const Stop& current_stop() {
  static const Stop unrequested;
  return innermost != nullptr ? *innermost : unrequested;
}

bool is_stopping() {
  return innermost != nullptr && innermost->requested();
}

void check_stop() {
  if (is_stopping()) throw Stopped();
}

}  // namespace attnscope
