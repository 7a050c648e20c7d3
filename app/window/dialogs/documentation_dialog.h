// Documentation dialog: list of pages on the left, the selected page on the right.
#pragma once

#include <string>
#include <vector>

#include "app/window/documentation.h"

namespace attnscope::window {

struct DocumentationDialog {
  bool open = false;
  int page = 0;                          // selected index into `pages`
  std::vector<DocumentationPage> pages;  // read when the dialog opens
  int loaded_page = -1;                  // page whose contents are `blocks`; -1: none
  std::vector<DocumentationBlock> blocks;
  std::string problem;  // why the pages cannot be read; empty if they can
};

}  // namespace attnscope::window
