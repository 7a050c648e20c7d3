// Comparisons that fail on NaN, random tensors and temporary folders, for all tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/tensor/tensor.h"

namespace attnscope::testing {

// Shapes equal and max |a - b| <= tolerance * max(1, max |expected|); says where it differs most.
::testing::AssertionResult close(const Tensor& got, const Tensor& expected,
                                 double tolerance = 2e-5);

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
