#include "tests/support/compare.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace attnscope::testing {

::testing::AssertionResult close(const Tensor& got, const Tensor& expected, double tolerance) {
  if (got.shape() != expected.shape()) {
    return ::testing::AssertionFailure()
           << "shape " << to_string(got.shape()) << " instead of " << to_string(expected.shape());
  }
  double largest = 1;
  for (const float v : expected) largest = std::max(largest, std::abs(static_cast<double>(v)));
  for (Index i = 0; i < expected.size(); ++i) {
    const bool both_infinite = std::isinf(got[i]) && got[i] == expected[i];
    const double difference =
        std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!both_infinite && !(difference <= tolerance * largest)) {
      return ::testing::AssertionFailure()
             << "element " << i << " of " << to_string(expected.shape()) << " is " << got[i]
             << " instead of " << expected[i] << ", allowed difference " << tolerance * largest;
    }
  }
  return ::testing::AssertionSuccess();
}

Tensor random_tensor(Shape shape, std::uint64_t seed, double scale) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal(0.0, scale);
  Tensor t(std::move(shape));
  for (float& v : t) v = static_cast<float>(normal(generator));
  return t;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "attnscope-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace attnscope::testing
