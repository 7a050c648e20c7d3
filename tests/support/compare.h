// Comparisons that fail on NaN, random tensors and temporary folders, for all tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

// Tensors of other shapes, with NaN, or with an infinity where the other has none of this sign can
// not be compared; they are neither close nor different.
enum class Agreement { Same, Different, NotComparable };
struct Comparison {
  Agreement agreement;
  std::string words;  // what stands where, the farthest apart; also where it is the same
};
// The same: max |got - expected| <= tolerance * max(1, max |expected|), of what is finite.
Comparison compare(const Tensor& got, const Tensor& expected, double tolerance);

::testing::AssertionResult close(const Tensor& got, const Tensor& expected,
                                 double tolerance = 2e-5);
// Not the negation of close(): NaN or another shape are no difference that a test may ask for.
::testing::AssertionResult differs(const Tensor& got, const Tensor& expected, double tolerance);

// Normal numbers, deterministic in the seed.
Tensor random_tensor(Shape shape, std::uint64_t seed, double scale = 1.0);

// A fresh folder, removed with everything in it at the end of the scope.
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
