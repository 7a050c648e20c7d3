#include "app/command/text_progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "core/text/terminal_text.h"

namespace attnscope::command {
namespace {

constexpr auto kSilentTime = std::chrono::milliseconds(500);  // time before the first output

}  // namespace

std::function<void(std::size_t, std::size_t)> print_progress(const std::string& label) {
  const bool is_terminal = isatty(STDERR_FILENO) != 0;
  const auto printed_percent = std::make_shared<int>(-1);
  const auto start = std::chrono::steady_clock::now();
  return [label = terminal_line(label), is_terminal, printed_percent, start](std::size_t completed,
                                                                             std::size_t total) {
    const bool is_early = std::chrono::steady_clock::now() - start < kSilentTime;
    if (total == 0 || (is_early && *printed_percent < 0)) return;
    const int percent =
        static_cast<int>(100.0 * static_cast<double>(completed) / static_cast<double>(total));
    const int step = is_terminal ? percent : percent / 10 * 10;
    if (step == *printed_percent) return;
    *printed_percent = step;
    std::fprintf(stderr, is_terminal ? "\r%s: %d%%" : "%s: %d%%\n", label.c_str(), step);
    if (is_terminal && percent == 100) std::fputc('\n', stderr);
    std::fflush(stderr);
  };
}

std::function<void(double)> print_fraction(const std::string& label) {
  if (isatty(STDERR_FILENO) == 0) return [](double) {};
  return [print = print_progress(label)](double fraction) {
    constexpr std::size_t kSteps = 1000;
    print(static_cast<std::size_t>(fraction * kSteps), kSteps);
  };
}

ProgressLine::ProgressLine(const std::string& label) {
  progress_->begin_stage(label, 0, 0);
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
    is_finished_ = true;
  }
  finish_condition_.notify_all();
  thread_.join();
}

void ProgressLine::print() {
  constexpr auto kTick = std::chrono::milliseconds(250);
  constexpr const char* kClear = "\r\033[K";  // clears the terminal's line
  std::unique_lock lock(mutex_);
  bool has_printed = false;
  auto wait = kSilentTime;
  while (!finish_condition_.wait_for(lock, wait, [this] { return is_finished_; })) {
    wait = kTick;
    const Progress::Snapshot current = progress_->snapshot();
    if (current.stage.empty()) continue;
    std::string line = terminal_line(current.stage);
    if (current.share > 0 && current.share < 1) {
      line += ", " + std::to_string(static_cast<int>(100 * current.share)) + "%";
    }
    if (current.seconds_left >= 0) line += ", " + time_left_text(current.seconds_left);
    std::fprintf(stderr, "%s%s", kClear, line.c_str());
    std::fflush(stderr);
    has_printed = true;
  }
  if (has_printed) std::fputs(kClear, stderr);
}

}  // namespace attnscope::command
