#include "app/window/shutdown_watchdog.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/base/file.h"
#include "core/text/terminal_text.h"

namespace attnscope::window {

void ShutdownWatchdog::begin(std::string unfinished_file) {
  thread_ = std::thread([this, unfinished_file = std::move(unfinished_file)] {
    std::unique_lock lock(mutex_);
    const std::chrono::duration<double> time_limit(kMaxShutdownSeconds);
    if (finish_condition_.wait_for(lock, time_limit, [this] { return is_finished_; })) return;
    remove_unfinished_files();
    if (!unfinished_file.empty()) {
      std::fprintf(stderr, "attnscope: %s: not written: the window was closed\n",
                   terminal_line(unfinished_file).c_str());
    }
    std::fflush(nullptr);
    std::_Exit(unfinished_file.empty() ? 0 : 1);
  });
}

ShutdownWatchdog::~ShutdownWatchdog() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    is_finished_ = true;
  }
  finish_condition_.notify_all();
  thread_.join();
}

}  // namespace attnscope::window
