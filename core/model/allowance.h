// How many numbers a choice may make anew.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// A person's click must not fill the memory with untrained numbers.
class Allowance {
 public:
  void take(const std::string& owner, const std::string& name, const Shape& shape) {
    constexpr Index kMost = Index{1} << 28;
    used_ += element_count(shape);
    if (used_ > kMost) {
      throw InputError(owner + " needs " + to_string(shape) + " numbers for " + name +
                       " and such weights at this context, more than " + std::to_string(kMost) +
                       " in all");
    }
  }

 private:
  Index used_ = 0;
};

}  // namespace attnscope
