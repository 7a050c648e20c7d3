// Gradient checks by central differences.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

struct Differences {
  std::vector<float> steps = {1e-3f};  // all are tried, because a large step may cross a kink
  double tolerance = 2e-4;             // relative to the largest central difference
  Index max_elements = 25;  // evenly spread; the element with the largest gradient is added
};

// Checks that `gradient` is the gradient of f with respect to `values`, which f reads. Varies and
// restores `values`. Fails if all differences are zero, because the check would then test nothing.
::testing::AssertionResult is_gradient(const Tensor& gradient, Tensor values,
                                       const std::function<double()>& f,
                                       const Differences& options);

// Checks that the gradient is missing or at most `rounding`, and that the central differences of f
// are at most `rounding`.
::testing::AssertionResult has_no_gradient(const Tensor& gradient, Tensor values,
                                           const std::function<double()>& f, double rounding,
                                           const Differences& options);

// Compares with a gradient that was computed by another method. Differences may be at most
// `tolerance` times the largest component of `expected`, which must not be zero.
::testing::AssertionResult same_gradient(const Tensor& got, const Tensor& expected,
                                         double tolerance);

// Sum of result * weights in double precision, a scalar function for central differences.
double projected(const Tensor& result, const Tensor& weights);

}  // namespace attnscope::testing
