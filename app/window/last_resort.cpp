#include "app/window/last_resort.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/base/file.h"

namespace attnscope::window {

void LastResort::begin(std::string unwritten) {
  thread_ = std::thread([this, unwritten = std::move(unwritten)] {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> most(kMostEndSeconds);
    if (changed_.wait_for(lock, most, [this] { return over_; })) return;
    remove_unfinished_files();
    if (!unwritten.empty()) {
      std::fprintf(stderr, "attnscope: %s: not written: the window was closed\n",
                   unwritten.c_str());
    }
    std::fflush(nullptr);
    std::_Exit(unwritten.empty() ? 0 : 1);
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
