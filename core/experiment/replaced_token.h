// Two runs that differ in one token, to show which numbers depend on that token.
#pragma once

#include <memory>
#include <string>

#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedToken {
  std::string problem{};                       // reason for a missing run; empty on success
  Index position = 0;                          // of the replaced token in the input
  std::int32_t before = 0, after = 0;          // ids at this position
  std::shared_ptr<const Trace> without, with;  // on the same device
};

}  // namespace attnscope
