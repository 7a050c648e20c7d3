#include "app/command/text_progress.h"

#include <unistd.h>

#include <cstdio>
#include <memory>

namespace attnscope::command {

std::function<void(std::size_t, std::size_t)> print_progress(const std::string& what) {
  const bool terminal = isatty(STDERR_FILENO) != 0;
  const auto shown = std::make_shared<int>(-1);
  return [what, terminal, shown](std::size_t done, std::size_t all) {
    if (all == 0) return;
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
