// Errors of work that exceeds the memory budget. what() names no controls; text() adds the names of
// controls of the window or options of the command line.
#pragma once

#include <string>

#include "core/base/error.h"

namespace attnscope {

// Names of controls that help to avoid the error: "--memory". text() omits empty names.
struct MemoryControls {
  std::string budget{}, tokens{}, micro_batch{};
};

// Second base class of memory errors, next to InputError or WorkError.
struct MemoryHint {
  virtual ~MemoryHint() = default;
  virtual std::string text(const MemoryControls& controls) const = 0;
};

// " (--memory)"; empty for an empty name.
inline std::string in_parentheses(const std::string& name) {
  return name.empty() ? "" : " (" + name + ")";
}

// Error that a larger budget avoids.
template <class Error>
struct BudgetError : Error, MemoryHint {
  using Error::Error;
  std::string text(const MemoryControls& controls) const override {
    return Error::what() + in_parentheses(controls.budget);
  }
};

}  // namespace attnscope
