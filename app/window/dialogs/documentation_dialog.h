// The dialog Documentation: the pages on the left, the chosen one on the right.
#pragma once

#include <string>
#include <vector>

#include "app/window/documentation.h"

namespace attnscope::window {

struct DocumentationDialog {
  bool open = false;
  int chosen = 0;                        // of `pages`
  std::vector<DocumentationPage> pages;  // read when the dialog opens
  int loaded = -1;                       // the page that `blocks` hold; -1: none
  std::vector<DocumentationBlock> blocks;
  std::string problem;  // why pages cannot be shown; empty: they can
};

}  // namespace attnscope::window
