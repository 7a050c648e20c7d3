// Gradients against central differences, for all tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

struct Differences {
  std::vector<float> steps = {1e-3f};  // tried one after another: a large one may cross a kink
  double tolerance = 2e-4;             // relative to the largest central difference
  Index most = 25;                     // elements: spread ones, and that of the largest gradient
};

// Whether `gradient` is that of f with respect to `values`, which f reads; they are put back.
// Refused where all that was tried is zero: a gradient that is not there would do as well.
::testing::AssertionResult is_gradient(const Tensor& gradient, Tensor values,
                                       const std::function<double()>& f, const Differences& how);

// Whether the gradient is zero, or missing, and f does not depend on `values` beyond `rounding`.
::testing::AssertionResult has_no_gradient(const Tensor& gradient, Tensor values,
                                           const std::function<double()>& f, double rounding,
                                           const Differences& how);

// The same gradient computed in another way: no number farther off than `tolerance` times the
// largest of `expected`, which must not be zero.
::testing::AssertionResult same_gradient(const Tensor& got, const Tensor& expected,
                                         double tolerance);

// sum of result * weights in double precision: a scalar whose differences keep their digits.
double projected(const Tensor& result, const Tensor& weights);

}  // namespace attnscope::testing
