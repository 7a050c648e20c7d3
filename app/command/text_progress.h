// How far work on a file has come, as a line on stderr.
#pragma once

#include <functional>
#include <string>

namespace attnscope::command {

// Writes "measuring: 40 %" over itself, at most a few times a second, and only on a terminal or for
// each tenth; nothing of work that takes less than a second.
std::function<void(std::size_t done, std::size_t all)> print_progress(const std::string& what);

}  // namespace attnscope::command
