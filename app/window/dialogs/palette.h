// Command palette: finds actions by name.
#pragma once

#include <string>

namespace attnscope::window {

struct Palette {
  bool open = false;
  std::string typed;
  int chosen = 0;
};

}  // namespace attnscope::window
