// Limit on newly created weights.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Counts the elements of newly created weights. reserve() throws InputError before their number
// exceeds a fixed limit, so that no user setting exhausts memory.
class WeightBudget {
 public:
  void reserve(const std::string& owner, const std::string& name, const Shape& shape) {
    constexpr Index kMaxNumbers = Index{1} << 28;
    used_ += element_count(shape);
    if (used_ > kMaxNumbers) {
      throw InputError(owner + " needs " + to_string(shape) + " numbers for " + name +
                       " at this context; the total of new weights would exceed " +
                       std::to_string(kMaxNumbers) + " numbers");
    }
  }

 private:
  Index used_ = 0;
};

}  // namespace attnscope
