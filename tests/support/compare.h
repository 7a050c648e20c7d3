// Comparisons that fail on NaN, random tensors and temporary folders, for all tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

// NotComparable: shapes differ, or an element is NaN or an infinity that the other tensor lacks;
// these tensors are neither close nor different.
enum class Agreement { Same, Different, NotComparable };
struct Comparison {
  Agreement agreement;
  std::string message;  // largest difference and its element, also if the tensors agree
};
// Same: max |got - expected| <= tolerance * max(1, max |expected|) over finite numbers.
Comparison compare(const Tensor& got, const Tensor& expected, double tolerance);

::testing::AssertionResult close(const Tensor& got, const Tensor& expected,
                                 double tolerance = 2e-5);
// Not the negation of close(): also false for NaN and different shapes.
::testing::AssertionResult differs(const Tensor& got, const Tensor& expected, double tolerance);

// Normal numbers, deterministic in the seed.
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
