#include "app/window/last_resort.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace attnscope::window {

void LastResort::begin() {
  thread_ = std::thread([this] {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> most(kMostEndSeconds);
    if (changed_.wait_for(lock, most, [this] { return over_; })) return;
    std::fflush(nullptr);
    std::_Exit(0);
  });
}

LastResort::~LastResort() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace attnscope::window
