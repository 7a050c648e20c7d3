#include "app/command/text_progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

namespace attnscope::command {
namespace {

constexpr auto kQuiet = std::chrono::milliseconds(500);  // time before the first output

}  // namespace

std::function<void(std::size_t, std::size_t)> print_progress(const std::string& what) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto shown = std::make_shared<int>(-1);
  const auto start = std::chrono::steady_clock::now();
  return [what, terminal, shown, start](std::size_t done, std::size_t all) {
    const bool soon = std::chrono::steady_clock::now() - start < kQuiet;
    if (all == 0 || (soon && *shown < 0)) return;
    const int percent =
        static_cast<int>(100.0 * static_cast<double>(done) / static_cast<double>(all));
    const int step = terminal ? percent : percent / 10 * 10;
    if (step == *shown) return;
    *shown = step;
    std::fprintf(stderr, terminal ? "\r%s: %d%%" : "%s: %d%%\n", what.c_str(), step);
    if (terminal && percent == 100) std::fputc('\n', stderr);
    std::fflush(stderr);
  };
}

ProgressLine::ProgressLine(const std::string& what) {
  progress_->begin_stage(what, 0, 0);
  if (isatty(STDERR_FILENO) == 0) return;
  thread_ = std::thread([this] { print(); });
}

ProgressLine::ProgressLine(ExperimentRun& run) : ProgressLine() {
  run.report_to(progress_);
}

ProgressLine::~ProgressLine() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void ProgressLine::print() {
  constexpr auto kTick = std::chrono::milliseconds(250);
  constexpr const char* kClear = "\r\033[K";  // clears the terminal's line
  std::unique_lock lock(mutex_);
  bool shown = false;
  auto wait = kQuiet;
  while (!ending_.wait_for(lock, wait, [this] { return over_; })) {
    wait = kTick;
    const Progress::Snapshot now = progress_->snapshot();
    if (now.stage.empty()) continue;
    std::string line = now.stage;
    if (now.share > 0 && now.share < 1) {
      line += ", " + std::to_string(static_cast<int>(100 * now.share)) + "%";
    }
    if (now.seconds_left >= 0) line += ", " + time_left_text(now.seconds_left);
    std::fprintf(stderr, "%s%s", kClear, line.c_str());
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fputs(kClear, stderr);
}

}  // namespace attnscope::command
