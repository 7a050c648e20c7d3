// Pair of runs that differ in one token, for showing which numbers depend on it.
#pragma once

#include <memory>
#include <string>

#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedToken {
  std::string problem{};  // reason for a missing run; empty on success
  Index position = 0;     // among the tokens that are run
  std::int32_t before = 0, after = 0;
  std::shared_ptr<const Trace> without, with;  // on the same device
};

}  // namespace attnscope
