// For all tests: comparisons that fail on NaN, random tensors, temporary folders.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

// Tensors are NotComparable, thus neither close nor different, if their shapes differ, or if an
// element is NaN, or is infinite and unequal to the element of the other tensor.
enum class Agreement { Same, Different, NotComparable };
struct Comparison {
  Agreement agreement;
  std::string message;  // largest difference and its element, even if it is allowed
};
// Tensors are the Same if max |got - expected| <= tolerance * max(1, max |expected|) over finite
// elements.
Comparison compare(const Tensor& got, const Tensor& expected, double tolerance);

::testing::AssertionResult close(const Tensor& got, const Tensor& expected,
                                 double tolerance = 2e-5);
// Unlike the negation of close(), fails for NaN and different shapes.
::testing::AssertionResult differs(const Tensor& got, const Tensor& expected, double tolerance);

// Normally distributed numbers with standard deviation `scale`; equal for equal seeds.
Tensor random_tensor(Shape shape, std::uint64_t seed, double scale = 1.0);

// A new folder that is removed with its content at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace attnscope::testing
