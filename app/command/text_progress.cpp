#include "app/command/text_progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

namespace attnscope::command {

namespace {

constexpr auto kQuiet = std::chrono::seconds(1);  // nothing is said of what is done by then

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
    std::fprintf(stderr, terminal ? "\r%s: %d %%" : "%s: %d %%\n", what.c_str(), step);
    if (terminal && percent == 100) std::fputc('\n', stderr);
    std::fflush(stderr);
  };
}

}  // namespace attnscope::command
