// What pictures say about the run they show.
#pragma once

#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

// "Local (window = 4, dilation = 1); position: RoPE (base = 10000)".
std::string describe(const AttentionTap& tap);

// What every caption ends with: tokens, what ran where, notes. `about`: what this view shows.
std::string caption(const Trace& trace, const std::string& about);

// "4 layers of 4 heads", "4 layers".
std::string layers_and_heads(const Trace& trace);

// The tap that the settings ask for; otherwise the message to show instead.
struct Found {
  const AttentionTap* tap = nullptr;
  Index head = 0;  // within the tap's group
  std::string headline, advice;
};
Found find_tap(const ViewInput& input);

}  // namespace attnscope
