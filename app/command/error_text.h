// Error messages of the command line.
#pragma once

#include <exception>
#include <string>

#include "core/base/memory_error.h"

namespace attnscope::command {

// Message of an error; errors about memory also name the options that reduce memory.
inline std::string error_text(const std::exception& error) {
  const auto* hint = dynamic_cast<const MemoryHint*>(&error);
  if (hint == nullptr) return error.what();
  return hint->text(
      {.budget = "--memory", .tokens = "--max-tokens", .micro_batch = "--micro-batch-size"});
}

}  // namespace attnscope::command
