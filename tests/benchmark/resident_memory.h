// Peak resident memory of this process.
#pragma once

#include <fstream>
#include <string>

namespace attnscope {

// Returns bytes, including resident pages of mapped files. `resets`: resets the peak first.
inline double peak_memory(bool resets) {
  if (resets) std::ofstream("/proc/self/clear_refs") << 5;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace attnscope
