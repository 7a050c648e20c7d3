// Limit on newly created weights.
#pragma once

#include <string>

#include "core/base/error.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Counts the elements of weights that are created for a user's choice of structure. Throws
// InputError before they exceed a fixed limit, so that no click can fill the memory.
class WeightBudget {
 public:
  void reserve(const std::string& owner, const std::string& name, const Shape& shape) {
    constexpr Index kMax = Index{1} << 28;
    used_ += element_count(shape);
    if (used_ > kMax) {
      throw InputError(owner + " needs " + to_string(shape) + " numbers for " + name +
                       " and such weights at this context, more than " + std::to_string(kMax) +
                       " in all");
    }
  }

 private:
  Index used_ = 0;
};

}  // namespace attnscope
