// Two runs that differ in one token, to show which numbers depend on that token.
#pragma once

#include <memory>
#include <string>

#include "core/trace/trace.h"

namespace attnscope {

struct ReplacedToken {
  std::string problem{};                       // reason for a missing run; empty on success
  Index position = 0;                          // position of the replaced token in the input
  std::int32_t before = 0, after = 0;          // original and new id of this token
  std::shared_ptr<const Trace> without, with;  // runs before and after the replacement
};

}  // namespace attnscope
